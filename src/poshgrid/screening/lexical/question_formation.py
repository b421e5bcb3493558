"""Words without which a sentence holds no relative clause in a question.

A relative clause has a relative pronoun or a subject of its own, right after the noun (or the free
relative *what*) that it modifies. In front of an auxiliary, the first wh-word of a sentence asks.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from poshgrid.screening.closed_classes import (
    ARTICLES,
    AUXILIARY_FORMS,
    CONJUNCTIONS,
    DETERMINERS,
    INTERJECTIONS,
    KIN,
    NEGATIONS,
    OTHER_SUBJECTS,
    PREPOSITIONS,
    SUBJECT_PRONOUNS,
    WH_WORDS,
    ends_in_question_mark,
    lower,
    spoken,
)

QUESTION = (
    "Is the inverted auxiliary one that would not be the first auxiliary of the statement, because "
    "a relative clause on the subject has one, too (Is the boy who is in the corner smiling?)?"
)
_THAT = frozenset({"that", "dat"})
_SHORTEST = 3  # words: what they eat
_NO_NOUN = (
    frozenset({"my", "your", "its", "our", "their", "every", "to"})
    | ARTICLES | AUXILIARY_FORMS | CONJUNCTIONS | NEGATIONS | WH_WORDS
)  # fmt: skip
"""Words that no relative clause modifies."""
_TAKES_QUESTION = frozenset(
    {
        "know", "knows", "knew", "tell", "told", "ask", "asked", "guess", "wonder", "figure",
        "remember", "forget", "forgot", "think", "sure",
    }
)  # fmt: skip
_TAKES_CLAUSE = frozenset(
    {
        "know", "think", "thought", "see", "say", "said", "says", "guess", "hope", "wish", "mean",
        "bet", "believe", "remember", "tell", "told", "suppose", "want", "let", "make", "made",
        "sure", "if", "because", "'cause", "cause", "cos", "when", "so", "then", "until", "till",
        "while", "since", "unless", "though", "although", "before", "after",
    }
)  # fmt: skip
_NOUNLIKE = frozenset(
    {
        "one", "ones", "all", "everything", "something", "anything", "nothing", "else",
        "somebody", "someone", "anybody", "anyone", "everybody", "everyone", "those", "these",
        "thing", "things", "time", "way", "place", "day", "kind", "people",
    }
)  # fmt: skip
_POINTERS = frozenset(
    {"is", "'s", "are", "'re", "was", "were", "be", "s", "that", "this", "dat", "dis", "it", "here"}
)
_TIMES = frozenset(
    {
        "times", "days", "night", "nights", "morning", "afternoon", "evening", "week", "year",
        "years", "summer", "winter", "minute", "christmas", "tomorrow", "from", "of", "like",
        "about",
    }
)  # fmt: skip
_PRONOUNS = frozenset({"who", "whom", "whose", "which"})
_ADVERBIAL = frozenset({"where", "when", "why", "which", "how", "wherever", "whenever"})
_INDEFINITE = frozenset(
    {"one", "people", "everyone", "everybody", "someone", "somebody", "nobody", "those", "others"}
)
_QUANTITIES = frozenset(
    {"'s", "all", "more", "most", "many", "much", "two", "three", "other", "last"}
)
_SUBJECT_STARTS = SUBJECT_PRONOUNS | OTHER_SUBJECTS | DETERMINERS
# Unions that are asked for at every word
_LEADS = INTERJECTIONS | CONJUNCTIONS
_CALLS = _LEADS | OTHER_SUBJECTS
_NO_HEAD = _NO_NOUN | SUBJECT_PRONOUNS | _TAKES_CLAUSE | INTERJECTIONS | PREPOSITIONS
_NO_HEAD_OF_THAT = _TAKES_CLAUSE | _LEADS
_NAMED = KIN | _INDEFINITE
_PHRASE_STARTS = DETERMINERS - _THAT
_BEFORE_NOUNS = DETERMINERS | _QUANTITIES
_VERB_STARTS = _SUBJECT_STARTS | AUXILIARY_FORMS


def screen(words: Sequence[str]) -> bool:
    """Say whether the filter may remove a sentence of these words.

    Args:
        words: as parsers see them (``poshgrid.parsing.words``).
    """
    return _screened(words, lower(words))


def _screened(words: Sequence[str], small: list[str]) -> bool:
    """Say whether it may be a question in which some word may begin a relative clause.

    That is a wh-word that does not ask the sentence's question, a *that* that is not its object or
    subject, a subject right after what may be a noun, or a participle after a preposition.
    """
    places = [i for i, word in enumerate(small) if spoken(word)]
    if len(places) < _SHORTEST or not _may_be_question(small):
        return False
    first, last = places[0], places[-1]
    return any(
        _wh_word(small, i, last)
        or _that(small, i, first, last)
        or _own_subject(words, small, i, first, last)
        or _odd(small, i, first, last)
        for i in places
    )


def _wh_word(small: list[str], i: int, last: int) -> bool:
    if small[i] not in WH_WORDS:
        return False
    asks = all(not spoken(w) or w in _LEADS for w in small[:i])
    return not (asks and (i == last or small[i + 1] in AUXILIARY_FORMS))


def _that(small: list[str], i: int, first: int, last: int) -> bool:
    if i == first or small[i] not in _THAT:
        return False
    before = small[i - 1]
    if before in AUXILIARY_FORMS and i <= first + 2:
        return False
    return i < last or (before not in AUXILIARY_FORMS | PREPOSITIONS and spoken(before))


def _own_subject(words: Sequence[str], small: list[str], i: int, first: int, last: int) -> bool:
    """Say whether a subject stands after what may be a noun, with something after it."""
    if not first < i < last or not (small[i] in _SUBJECT_STARTS or words[i][0].isupper()):
        return False
    before = small[i - 1]
    pronoun = before in SUBJECT_PRONOUNS and before != "it"
    return spoken(before) and before not in _NO_NOUN and not pronoun


def _odd(small: list[str], i: int, first: int, last: int) -> bool:
    """Say whether it is *of turning*, or *where*, misspelt: *a page were you used to say*."""
    if small[i] == "were":
        return first + 2 < i < last and small[i + 1] in SUBJECT_PRONOUNS
    return i > first and small[i].endswith("ing") and small[i - 1] in PREPOSITIONS


def backstop(words: Sequence[str]) -> tuple[int, ...] | None:
    """Return the places of a noun and of the relative clause after it, or ``None``.

    What looks like a relative clause in what may be a question, by its words alone. Meant to take
    too much: small parsers find four in ten relative clauses of child-directed speech.

    * a wh-word, but for one that asks the sentence's question, opens a question after a verb that
      takes one (*know what*), or opens an adverbial clause (*when we come home*);
    * *that* between what may be a noun and a verb or a subject;
    * a subject right after what looks like a noun phrase: *the ball you had*;
    * a participle after a preposition, which some treebanks call a relative clause.

    Args:
        words: as parsers see them (``poshgrid.parsing.words``).
    """
    small = lower(words)
    if not _screened(words, small):
        return None
    places = [i for i, word in enumerate(small) if spoken(word)]
    first, last = places[0], places[-1]
    for i in places:
        if (
            _relative_wh(small, i, first, last)
            or _relative_that(small, i, first, last)
            or _bare_relative(words, small, i, last)
            or _odd(small, i, first, last)
        ):
            return (i, i + 1) if i else (i + 1,)
    return None


def _relative_wh(small: list[str], i: int, first: int, last: int) -> bool:
    word = small[i]
    if i == last or not _wh_word(small, i, last):
        return False
    before, after = small[i - 1] if i else "", small[i + 1]
    if i == first:  # what they eat
        return word.endswith("ever") or (word not in _ADVERBIAL and after in SUBJECT_PRONOUNS)
    if before in _POINTERS:  # that 's what you said
        return True
    vocative = after in AUXILIARY_FORMS and i <= first + 2  # mommy what 's that
    return not vocative and before not in _TAKES_QUESTION and _relative_adverb(small, i)


def _relative_adverb(small: list[str], i: int) -> bool:
    """Say whether a wh-word is a relative pronoun, or an adverb after a noun of place or time."""
    word, before, after = small[i], small[i - 1], small[i + 1]
    if word == "when":
        return before in _TIMES or before.endswith(("time", "day"))
    if word == "where":
        return _may_be_noun(small, i - 1) or not spoken(before)
    return word != "how" and (word in _PRONOUNS or after in _VERB_STARTS)


def _relative_that(small: list[str], i: int, first: int, last: int) -> bool:
    if small[i] not in _THAT or not first < i < last:
        return False
    before, after = small[i - 1], small[i + 1]
    if after in AUXILIARY_FORMS and i > first + 2 and spoken(before):
        return before not in _NO_HEAD_OF_THAT
    return _may_be_noun(small, i - 1) and (
        after in _SUBJECT_STARTS or _in_noun_phrase(small, i - 1)
    )


def _bare_relative(words: Sequence[str], small: list[str], i: int, last: int) -> bool:
    """Say whether a subject stands right after a noun phrase: the ball you had, the man I saw."""
    named = small[i] in _NAMED or (words[i][0].isupper() and words[i] != "I")
    phrase = small[i] in _PHRASE_STARTS and i + 2 <= last
    if not 0 < i < last or not spoken(small[i + 1]):
        return False
    if not (named or phrase or small[i] in SUBJECT_PRONOUNS):
        return False
    if small[i - 1] in ("it", "that") and i > 1 and small[i - 2] in _POINTERS and not phrase:
        return True  # what is it you want
    return _may_be_noun(small, i - 1) and _in_noun_phrase(small, i - 1)


def _may_be_noun(small: list[str], i: int) -> bool:
    """Say whether a word is none of those that cannot be a noun."""
    return spoken(small[i]) and small[i] not in _NO_HEAD


def _in_noun_phrase(small: list[str], i: int) -> bool:
    """Say whether a word is a plural, a pronoun, or has a determiner up to three words before."""
    if small[i] in _NOUNLIKE or small[i].endswith("s"):
        return True
    return not _BEFORE_NOUNS.isdisjoint(small[max(0, i - 3) : i])


def candidates(words: Sequence[str]) -> tuple[int, ...] | None:
    """Return the places of the question mark and the auxiliaries, if at least two, or ``None``.

    The paper's candidates for leakage (appendix C): "a question mark and at least two auxiliaries".
    """
    small = lower(words)
    auxiliaries = [i for i, word in enumerate(small, start=1) if word in AUXILIARY_FORMS]
    marks = [i for i, word in enumerate(small, start=1) if "?" in word]
    return tuple(sorted(auxiliaries + marks)) if len(auxiliaries) >= 2 and marks else None


def _may_be_question(small: list[str]) -> bool:
    return (
        ends_in_question_mark(small)
        or not WH_WORDS.isdisjoint(small)
        or not AUXILIARY_FORMS.isdisjoint(small[:2])
        or _called(small)
    )


def _called(small: list[str]) -> bool:
    """Say whether an auxiliary follows interjections and names alone: *oh mommy is the boy ...*."""
    rest = itertools.dropwhile(lambda word: word in _CALLS or not spoken(word), small)
    return next(rest, "") in AUXILIARY_FORMS
