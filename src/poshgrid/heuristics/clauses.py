"""Clauses, as far as closed classes and the order of nouns and verbs tell them."""

from __future__ import annotations

from poshgrid.heuristics.words import (
    CONJUNCTIONS,
    PREPOSITIONS,
    RELATIVES,
    SUBORDINATORS,
    Noun,
    Sentence,
)


def relative(sentence: Sentence, start: int, end: int) -> int | None:
    """Return the place of the first relative pronoun: after a noun, *who* or a *that* like it."""
    for place in range(max(start, 1), end):
        if sentence.words[place] in RELATIVES and place - 1 in sentence.heads:
            return place
    return None


def in_relative(sentence: Sentence, place: int) -> bool:
    """Say whether a place before the main verb is inside a relative clause of the subject.

    It is where the clause has had no verb yet, be it opened by a pronoun (*the man who the boy _*)
    or not (*the man the boy _*).
    """
    opener = relative(sentence, 0, place)
    if opener is not None:
        return not sentence.verbs(opener + 1, place)
    nouns = [noun for noun in sentence.nouns if noun.place < place and not noun.possessor]
    between = sentence.words[nouns[0].place + 1 : place] if nouns else []
    joined = any(word in PREPOSITIONS | CONJUNCTIONS for word in between)
    return len(nouns) > 1 and not joined and not sentence.verbs(0, place)


def _clause(sentence: Sentence, place: int) -> int:
    """Return where the innermost finite clause begins that holds a place, by its complementizer."""
    for start in range(place - 1, 0, -1):
        word = sentence.words[start]
        if word in {"that", "whether", "if"} and not sentence.determines(start):
            if start - 1 in sentence.heads:
                continue  # "the boy that ..."
            return start + 1
        if word in SUBORDINATORS:
            return start + 1
    return 0


def local_subject(sentence: Sentence, place: int) -> Noun | None:
    """Return the head of the subject of the clause that a word is in.

    That is what c-commands an object reflexive inside its clause: neither a possessor in the
    subject, nor a noun of its relative clause, nor anything outside the clause.

    Args:
        sentence: its words.
        place: of the reflexive.

    Returns:
        ``None``: no noun stands before it.
    """
    start = _clause(sentence, place)
    nouns = [noun for noun in sentence.nouns if start <= noun.place < place and not noun.possessor]
    if not nouns:
        return None
    subject = nouns[0]
    opener = relative(sentence, start, place)
    if opener is not None:
        verbs = sentence.verbs(opener + 1, place)
        if len(verbs) < 2:  # it has not ended
            inner = [n for n in nouns if opener < n.place < (verbs[0] if verbs else place)]
            return inner[0] if inner else sentence.heads[opener - 1]
        # Inside a second clause after the relative one: "the man who left said she hurt herself"
        return _later(sentence, subject, verbs[1:], place)
    later = [noun for noun in nouns[1:] if not sentence.verbs(subject.place + 1, noun.place)]
    verbs = sentence.verbs(subject.place + 1, place)
    if later and len(verbs) > 1:  # "the man the boy saw hurt himself"
        verbs = verbs[1:]
    return _later(sentence, subject, verbs, place)


def _later(sentence: Sentence, subject: Noun, verbs: list[int], place: int) -> Noun:
    """Return the subject of a clause without a complementizer, if one begins after a verb."""
    if len(verbs) < 2:
        return subject
    for noun in reversed(sentence.nouns):
        if not verbs[0] < noun.place < verbs[-1] or noun.possessor:
            continue
        between = sentence.words[verbs[-2] + 1 : verbs[-1]]
        if noun.place > verbs[-2] and not set(between) & (PREPOSITIONS - {"to"} | CONJUNCTIONS):
            return noun
    return subject
