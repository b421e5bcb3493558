"""From words to classes: function words stay, every other word becomes its ending.

N-grams of classes know the order of function words and of kinds of words, and no structure. On
child speech they prefer the right yes/no question with a relative clause (Reali and Christiansen
2005, "Uncovering the richness of the stimulus", Cognitive Science 29), for reasons that have
nothing to do with structure (Kam, Stoyneshka, Tornyova, Fodor and Sakas 2008, "Bigrams and the
richness of the stimulus", Cognitive Science 32): a rival of every claim about structure.

Endings stand for parts of speech, as in taggers of unknown words: they need neither a parser nor a
tagger, a word that was never seen has one, too, and the class of a word is the same in all texts.
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
"""The first that a word has counts."""
_STEM = 3  # letters that an ending leaves at least
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
"""Words that make a pattern and not its filling."""
_STAYS = FUNCTION_WORDS | OTHER_SUBJECTS - KIN | SUBORDINATORS | INTERJECTIONS | {"to"}
CLITIC = re.compile(r"(?:n['’]t|['’](?:s|re|ve|ll|d|m))$")


def ending(word: str) -> str:
    """Return the class of a word that is no function word: ``<-ing>``, ``<->`` of no ending.

    No word of a text can be one: marks stand alone.
    """
    has = (e for e in ENDINGS if word.endswith(e) and len(word) >= len(e) + _STEM)
    return f"<-{next(has, '')}>"


def stays(word: str) -> bool:
    """Return whether a folded word is a class of its own: a mark or a function word, no clitic."""
    return not word[0].isalnum() or word in _STAYS or CLITIC.sub("", word) in _STAYS


def mapped(text: Encoded) -> Encoded:
    """Return sentences of words as sentences of their classes."""
    types = text.vocabulary[len(SPECIALS) :]
    classes = [word if stays(word) else ending(word) for word in types]
    vocabulary = [*SPECIALS, *sorted(set(classes))]
    number = {name: index for index, name in enumerate(vocabulary)}
    places = [*range(len(SPECIALS)), *(number[name] for name in classes)]
    return Encoded(vocabulary, np.array(places, np.uint32)[text.ids], text.sentences)
