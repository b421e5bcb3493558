"""Sentences that look like evidence about question formation by their words alone."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from poshgrid.evidence.closed_classes import (
    ARTICLES,
    AUXILIARIES,
    AUXILIARY_FORMS,
    CLITICS,
    CONJUNCTIONS,
    DETERMINERS,
    INTERJECTIONS,
    NEGATIONS,
    OTHER_SUBJECTS,
    PREPOSITIONS,
    SUBJECT_PRONOUNS,
    SUBORDINATORS,
    WH_WORDS,
    ends_in_question_mark,
    listed,
    spoken,
)
from poshgrid.parsing.tree import lowered

_SHORTEST = 3  # words: what they eat
_THAT = frozenset({"that", "dat"})
_FINITE = AUXILIARIES | CLITICS
_STARTS = SUBJECT_PRONOUNS | OTHER_SUBJECTS | DETERMINERS
_NO_NOUN = ARTICLES | AUXILIARY_FORMS | CONJUNCTIONS | NEGATIONS | WH_WORDS
"""Words that a clause cannot modify."""
_LEADS = INTERJECTIONS | CONJUNCTIONS
_CALLS = _LEADS | OTHER_SUBJECTS


def _possible(words: Sequence[str], small: Sequence[str]) -> bool:
    """Return whether a sentence with these words may be evidence.

    Either the sentence has two finite auxiliaries after a subordinator (*If you 're done can I have
    it*), or it may be a question, and a word in it may begin a relative clause: a wh-word that is
    not the question word, a *that* except in *what 's that*, a subject right after a possible noun.

    Args:
        words: words as parsers receive them (``poshgrid.parsing.tokenize``).
        small: the same in lower case.
    """
    if _adverbial(small):
        return True
    if not _may_be_question(small):
        return False
    places = [i for i, word in enumerate(small) if spoken(word)]
    if len(places) < _SHORTEST:
        return False
    first, last = places[0], places[-1]
    return any(
        _wh_word(small, i, last)
        if small[i] in WH_WORDS
        else i > first
        and (_that(small, i, first, last) or (i < last and _subject(words, small, i)))
        for i in places
    )


def _adverbial(small: Sequence[str]) -> bool:
    if SUBORDINATORS.isdisjoint(small):
        return False
    after = itertools.dropwhile(lambda word: word not in SUBORDINATORS, small)
    return sum(word in _FINITE for word in after) > 1


def _may_be_question(small: Sequence[str]) -> bool:
    return (
        ends_in_question_mark(small)
        or not WH_WORDS.isdisjoint(small)
        or not AUXILIARY_FORMS.isdisjoint(small[:2])
        or _fronted_after_names(small)
    )


def _fronted_after_names(small: Sequence[str]) -> bool:
    """Return whether an auxiliary only follows interjections and names: *oh mommy is ...*."""
    rest = itertools.dropwhile(lambda word: word in _CALLS or not spoken(word), small)
    return next(rest, "") in AUXILIARY_FORMS


def _wh_word(small: Sequence[str], i: int, last: int) -> bool:
    """Return whether a wh-word may begin a clause: *what 's that you have*, not *what 's that*."""
    if any(spoken(word) and word not in _LEADS for word in small[:i]):
        return True
    if i == last:
        return False
    return small[i + 1] not in AUXILIARY_FORMS or not _FINITE.isdisjoint(small[i + 2 :])


def _that(small: Sequence[str], i: int, first: int, last: int) -> bool:
    asked = small[i - 1] in AUXILIARY_FORMS and (i <= first + 2 or i == last)  # what 's that
    return small[i] in _THAT and not asked


def _subject(words: Sequence[str], small: Sequence[str], i: int) -> bool:
    """Return whether a subject follows a possible noun: *the ball you had*."""
    before = small[i - 1]
    if small[i] == "were":  # "where", misspelt: a page were you used to say
        return i >= _SHORTEST and small[i + 1] in SUBJECT_PRONOUNS
    if not (small[i] in _STARTS or words[i][0].isupper()):
        return False
    return spoken(before) and before not in _NO_NOUN


_CLASSES: dict[str, frozenset[str]] = {
    "o": frozenset(),  # any other word
    "F": PREPOSITIONS | {"to"},
    "K": listed(  # verbs with complement clauses: do the kids know that he is here
        "know think see say said tell told guess hope wish mean bet believe remember suppose sure "
        "want like feel"
    ),
    "D": DETERMINERS,
    "T": _THAT,
    "E": frozenset({"there", "here"}),
    "P": SUBJECT_PRONOUNS,
    "i": frozenset({"it"}),  # the only pronoun with clauses: what was it you said
    "W": WH_WORDS,
    "R": frozenset({"who", "whom", "whose", "which"}),
    "S": SUBORDINATORS | {"whenever", "wherever", "whatever"},
    "U": frozenset({"when"}),
    "C": CONJUNCTIONS,
    "I": INTERJECTIONS,
    "N": NEGATIONS,
    "A": _FINITE,
    "h": frozenset({"have", "has", "had", "do"}),  # also main verbs
    "s": frozenset({"'s", "s"}),  # also the possessive
    ".": frozenset({".", "!", ";", ":"}),
    "?": frozenset(),  # any word with a question mark
    ",": frozenset(),  # other punctuation
}  # fmt: skip
"""Letter -> words. A word in several classes has the letter of the last one."""
_LETTER = {word: letter for letter, words in _CLASSES.items() for word in words}

_ON_SUBJECT = re.compile(
    r"""
    (?: (?: ^ | (?<=[,.CIWRU]) | (?<=[WR]o) | (?<=[WR]oFo)    # nothing, or which kind of thing
          | (?<=Io) | (?<=[oK])(?=.*\?) )                     # oh mommy is; mommy is ... ?
        ([Ash]) N?
        (?: [DTo](?:[oDFC]|F[Pi]){0,7}? ,? (R)[^,.?]{0,8}? ([Ash])  # the boy, who is
          | (?: o?[DT](?:o|so){0,3} | o(?:o|so){0,2} | D(?=F) )     # all my dad 's friends; those
            (?: F[DPi]?o{0,2} ){0,2}                          # of the street; of you
            (?: ,? (T)[^,.?]{0,8}? ([Ash])                    # that the girl is
              | (?<=o)(W)[^,.?]{0,4}? ([Ash])                 # where we are
              | ([Pi])[^,.?]{0,3}? ([As]) | ([Pi])(h)         # he really is; we have
              | (D)o{1,2}([As]) | (o)(?:Co)?([As]) )          # the girl was; Mary and Sue are
          | i (?: ([TR])[^,.?]{0,4}? ([Ash])                  # it that he was
              | ([Pi])[^,.?]? ([As]) ) ) )                    # it you were
    | ^ ([Ash]) N? (W)[^,.?]{0,3}? ([As])                     # is what you are saying true
    """,
    re.VERBOSE,
)
"""A fronted auxiliary, a noun phrase, the word that opens a clause on it, the clause's
auxiliary."""
_ADVERBIAL = re.compile(
    r"""
    (?: ^ | (?<=[,.CI]) ) o? (S | U(?![Ash]))                 # mommy if; no question: when is
    [^.?]{0,20}? ([Ash]) [^.?]{0,20}?
    (?: (?: (?<![Pi]) | (?<=F[Pi]) ) (A) N?[Pi]               # would you; good to you can you
      | (?<![PiAsh]) (h) N?[Pi]                               # do you; not: you can have it
      | (?<=[,WIC]) (s)[Pi]                                   # where 's he
      | (?: (?<=[,WI])([Ash]) | (?<=o)(A) ) N?[DToE] (?=.*\?) )  # why should the boys ... ?
    """,
    re.VERBOSE,
)
"""A subordinator, an auxiliary, and another auxiliary before a possible subject."""


def direct(words: Sequence[str]) -> tuple[int, ...] | None:
    """Return the positions of words that look like direct evidence, or ``None``.

    Either a fronted auxiliary, the word that opens a clause on its possible subject and the next
    auxiliary; or a subordinator, an auxiliary, and another one before its possible subject. These
    are patterns over word classes, which also match if the parser is wrong.

    Args:
        words: words as parsers receive them (``poshgrid.parsing.tokenize``).
    """
    small = lowered(words)
    if sum(word in _FINITE for word in small) < 2 or not _possible(words, small):
        return None
    letters = "".join([_LETTER.get(word) or _other(word) for word in small])
    match = _ON_SUBJECT.search(letters) or _ADVERBIAL.search(letters)
    if match is None:
        return None
    return tuple(match.start(g) + 1 for g in range(1, match.re.groups + 1) if match[g])


def _other(word: str) -> str:
    if spoken(word):
        return "o"
    return "?" if "?" in word else ","


def candidates(words: Sequence[str]) -> tuple[int, ...] | None:
    """Return the positions of the question mark and of two or more auxiliaries, or ``None``.

    The paper's candidates for leakage (appendix C): "a question mark and at least two auxiliaries".
    """
    small = lowered(words)
    auxiliaries = [i for i, word in enumerate(small, start=1) if word in AUXILIARY_FORMS]
    marks = [i for i, word in enumerate(small, start=1) if "?" in word]
    return tuple(sorted(auxiliaries + marks)) if len(auxiliaries) >= 2 and marks else None
