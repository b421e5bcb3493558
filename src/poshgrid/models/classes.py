"""From words to classes: function words stay, every other word becomes its ending.

N-grams of classes know the order of function words and of kinds of words, but no structure.
Trained on speech to children, they prefer the correct yes/no question with a relative clause (Reali
and Christiansen 2005, "Uncovering the richness of the stimulus", Cognitive Science 29), for reasons
that have nothing to do with structure (Kam, Stoyneshka, Tornyova, Fodor and Sakas 2008, "Bigrams
and the richness of the stimulus", Cognitive Science 32). So they offer another explanation for
every result that seems to need structure.

Endings stand for parts of speech, as in taggers for unknown words. They need neither a parser nor a
tagger, words that were never seen have one, too, and a word has the same class in all texts.
"""

from __future__ import annotations

import re

import numpy as np

from poshgrid.evidence.closed_classes import (
    AUXILIARY_FORMS,
    CONJUNCTIONS,
    DETERMINERS,
    INTERJECTIONS,
    KIN,
    NEGATIONS,
    OTHER_SUBJECTS,
    PREPOSITIONS,
    SUBJECT_PRONOUNS,
    SUBORDINATORS,
    WH_WORDS,
    listed,
)
from poshgrid.models.kneser_ney import SPECIALS, Encoded

ENDINGS = ("'s", "ing", "ed", "ly", "er", "s")
"""The class of a word is the first of these that it ends in."""
_STEM = 3  # fewest letters before an ending
FUNCTION_WORDS = (
    WH_WORDS
    | AUXILIARY_FORMS
    | DETERMINERS
    | SUBJECT_PRONOUNS
    | CONJUNCTIONS
    | NEGATIONS
    | PREPOSITIONS
    | listed("me him us them there if whether because while")
    | listed("myself yourself himself herself itself ourselves yourselves themselves")
)
"""Function words: they keep their own class."""
_STAYS = FUNCTION_WORDS | OTHER_SUBJECTS - KIN | SUBORDINATORS | INTERJECTIONS | {"to"}
CLITIC = re.compile(r"(?:n['’]t|['’](?:s|re|ve|ll|d|m))$")


def ending(word: str) -> str:
    """Return the class of a word that is no function word: ``<-ing>``; ``<->`` without ending.

    No word of a text looks like this, because punctuation marks are words of their own.
    """
    has = (e for e in ENDINGS if word.endswith(e) and len(word) >= len(e) + _STEM)
    return f"<-{next(has, '')}>"


def stays(word: str) -> bool:
    """Return whether a folded word is its own class: a mark or function word, clitics aside."""
    return not word[0].isalnum() or word in _STAYS or CLITIC.sub("", word) in _STAYS


def mapped(text: Encoded) -> Encoded:
    """Return the sentences with the class of each word in its place."""
    types = text.vocabulary[len(SPECIALS) :]
    classes = [word if stays(word) else ending(word) for word in types]
    vocabulary = [*SPECIALS, *sorted(set(classes))]
    number = {name: index for index, name in enumerate(vocabulary)}
    places = [*range(len(SPECIALS)), *(number[name] for name in classes)]
    return Encoded(vocabulary, np.array(places, np.uint32)[text.ids], text.sentences)
