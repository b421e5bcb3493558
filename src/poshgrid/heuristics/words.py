"""What heuristics know of words: nouns, names and closed classes of the lexicon, and more.

Heuristics work on any file of pairs. The class of an unknown word is guessed from its neighbours,
as in *the Canadian child*, and what stays unclear is left open, not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from poshgrid.benchmark import lexicon

_WORD = re.compile(r"[^\W\d_]+['’]t\b|['’]s\b|[^\W\d_]+")


def one_of(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


POSSESSIVE = "'s"
DO = frozenset({"do", "does", "did", "don't", "doesn't", "didn't"})
_OTHER_AUXILIARIES = one_of(
    "am is are was were isn't aren't wasn't weren't have has had haven't hasn't hadn't shall "
    "shan't won't can't cannot"
)
REFLEXIVES = {
    "himself": ({"m"}, {"singular"}),
    "herself": ({"f"}, {"singular"}),
    "itself": ({"n"}, {"singular"}),
    "themselves": ({"m", "f", "n"}, {"plural"}),
}
"""Reflexive of the third person -> genders and numbers that its antecedent may have."""
_PRONOUNS = {
    "he": ({"m"}, {"singular"}), "she": ({"f"}, {"singular"}), "it": ({"n"}, {"singular"}),
    "they": ({"m", "f", "n"}, {"plural"}), "we": ((), ()), "you": ((), ()), "i": ((), ()),
}  # fmt: skip
_DETERMINERS = one_of("the a an this that these those my your his her its our their no")
_GENDERED = {"male": "m", "female": "f"}
"""Adjectives that tell the gender of their noun."""
PREPOSITIONS = one_of(
    "about at to with of for on in up out by from near beside behind into over under"
)
SUBORDINATORS = one_of("because when if since until although before after while without")
INTERROGATIVES = one_of("whether who whom what which when where why how")
ARGUMENTS, ADJUNCTS = frozenset({"who", "whom", "what"}), frozenset({"when", "where", "why", "how"})
RELATIVES = frozenset({"who", "whom", "which", "that"})
CONJUNCTIONS = frozenset({"and", "or", "but"})
_CLOSED = (
    PREPOSITIONS | SUBORDINATORS | INTERROGATIVES | RELATIVES | CONJUNCTIONS
    | {POSSESSIVE, "not", "n't", "never", "other", "others", "that", "whether"}
)  # fmt: skip
GENDERS, NUMBERS = frozenset({"m", "f", "n"}), frozenset({"singular", "plural"})


@dataclass(frozen=True)
class Noun:
    """A noun phrase, by its head."""

    position: int  # of the head among the words
    genders: frozenset[str]  # m, f, n: those that it may have; none: of the first or second person
    numbers: frozenset[str]
    possessor: bool = False  # "'s" follows

    def binds(self, reflexive: str) -> bool:
        """Say whether it agrees with a reflexive in gender and number."""
        genders, numbers = REFLEXIVES[reflexive]
        return bool(self.genders & genders) and bool(self.numbers & numbers)


@dataclass(frozen=True)
class Known:
    """The lexicon as heuristics ask for it."""

    nouns: dict[str, tuple[frozenset[str], frozenset[str]]]  # form -> genders, numbers
    names: dict[str, frozenset[str]]
    verbs: frozenset[str]  # all forms
    bases: frozenset[str]
    finite: frozenset[str]  # third person and past
    transitive: frozenset[str]  # base forms that may have an object
    ditransitive: frozenset[str]  # all forms of verbs that may have two
    adjectives: frozenset[str]
    auxiliaries: frozenset[str]
    determiners: frozenset[str]
    function: frozenset[str]

    def closes(self, word: str) -> bool:
        """Say whether a word is of a closed class, or an adverb."""
        return word.endswith("ly") or any(
            word in words for words in (self.auxiliaries, self.determiners, self.function, _CLOSED)
        )


@lru_cache(maxsize=1)
def known() -> Known:
    """Return the lexicon's words; the file is read once."""
    words = lexicon.read()
    nouns: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for word in words.of("noun"):
        kinds, gender = word.features["kinds"], word.features["gender"]
        genders = gender if gender & {"m", "f"} else frozenset("n")
        if gender == {"n"} and "person" in kinds:
            genders = frozenset("mf")
        if gender == {"n"} and "animal" in kinds:
            genders = GENDERS
        for number in ("singular", "plural"):
            form = word.forms[number].casefold()
            before = nouns.get(form, (genders, frozenset()))[1]
            nouns[form] = (genders, before | {number})
    auxiliaries = {word.lemma for word in words.of("auxiliary")}
    auxiliaries |= {f"{auxiliary}n't" for auxiliary in auxiliaries} | DO | _OTHER_AUXILIARIES
    verbs = words.of("verb")
    return Known(
        nouns,
        {form: w.features["gender"] for w in words.of("name") for form in w.folded},
        frozenset(form for word in verbs for form in word.folded),
        frozenset(word.forms["base"] for word in verbs),
        frozenset(word.forms[form] for word in verbs for form in ("third", "past")),
        frozenset(word.lemma for word in verbs if word.features["objects"]),
        frozenset(f for v in verbs if "ditransitive" in v.features["frames"] for f in v.folded),
        frozenset(word.lemma.casefold() for word in words.of("adjective")),
        frozenset(auxiliaries),
        _DETERMINERS | {word.lemma for word in words.of("determiner")},
        words.function_forms,
    )


class Sentence:
    """A sentence's words: case-folded, *Ann's* and *can't* as two words and one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.written = [match.replace("’", "'") for match in _WORD.findall(text)]
        self.words = [word.casefold() for word in self.written]

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def nouns(self) -> list[Noun]:
        """The noun phrases, from left to right."""
        return list(self._nouns())

    @cached_property
    def heads(self) -> dict[int, Noun]:
        """Place -> the noun whose head stands there."""
        return {noun.position: noun for noun in self.nouns}

    def _nouns(self) -> Iterator[Noun]:
        position = 0
        while position < len(self):
            head = self._head(position)
            if head is None:
                position += 1
                continue
            possessor = self.words[head + 1 : head + 2] == [POSSESSIVE]
            yield Noun(head, *self._features(position, head), possessor)
            position = head + 1

    def _head(self, position: int) -> int | None:
        """Return the head of a noun phrase that begins at a place."""
        word = self.words[position]
        if word in known().names or word in _PRONOUNS:
            return position
        if self.determines(position) or word == POSSESSIVE:
            return self._after(position + 1)
        if position and self.written[position][:1].isupper():
            return position  # a name that the lexicon does not have
        # "the teacher who trains Ann": no plural
        verbal = word in known().verbs or self.words[max(position - 1, 0)] in ("who", "which", "to")
        return position if word in known().nouns and not verbal else None

    def _after(self, start: int) -> int | None:
        """Return the head after a determiner: the first noun, over words that may be adjectives."""
        position = start
        while position < len(self) and self.words[position] in known().adjectives | {
            *_GENDERED,
            "other",
        }:
            position += 1
        if position >= len(self):
            return None
        following = self.words[position + 1 : position + 2]
        unknown = self.words[position] not in known().nouns
        if unknown and following and following[0] in known().nouns.keys() - known().verbs:
            return position + 1  # "the Canadian child"
        return position

    def _features(self, start: int, head: int) -> tuple[frozenset[str], frozenset[str]]:
        word = self.words[head]
        if word in _PRONOUNS:
            genders, numbers = _PRONOUNS[word]
            return frozenset(genders), frozenset(numbers)
        if word in known().names and not self.determines(start):
            return known().names[word], frozenset({"singular"})
        genders, numbers = known().nouns.get(word, (GENDERS, NUMBERS))
        if word not in known().nouns and start == head:  # a name
            genders, numbers = frozenset("mf"), frozenset({"singular"})
        said = {_GENDERED[w] for w in self.words[start:head] if w in _GENDERED}
        return frozenset(said) or genders, numbers

    def determines(self, position: int) -> bool:
        """Say whether a word is a determiner: *that* also opens clauses."""
        word = self.words[position]
        if word not in known().determiners or position + 1 >= len(self):
            return False
        after = self.words[position + 1]
        if word in ("that", "her"):
            numbers = known().nouns.get(after, ((), NUMBERS))[1]
            return not (
                self.opens(position + 1)
                or "singular" not in numbers
                or after in known().auxiliaries
            )
        return True

    def opens(self, position: int) -> bool:
        """Say whether a noun phrase begins at a place, judged by its first word alone."""
        word = self.words[position]
        if word == "that":
            return self.determines(position)
        return (
            word in known().determiners
            or word in _PRONOUNS
            or word in known().names
            or (position > 0 and self.written[position][:1].isupper())
        )

    def verbs(self, start: int, end: int) -> list[int]:
        """Return the places of what can only be verbs: no noun, and of no other known class."""
        covered = {
            position
            for noun in self.nouns
            for position in range(self._start(noun.position), noun.position + 1)
        }
        return [
            position
            for position in range(start, end)
            if position not in covered and not known().closes(self.words[position])
        ]

    def _start(self, head: int) -> int:
        position = head
        while position > 0 and (
            self.words[position - 1] in known().adjectives | {*_GENDERED, "other"}
            or self.determines(position - 1)
        ):
            position -= 1
        return position


def difference(first: Sequence[str], second: Sequence[str]) -> int | None:
    """Return the first place at which words differ; ``None``: one is the other's beginning."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((position for position, (one, other) in pairs if one != other), None)


# ---- clauses ------------------------------------------------------------------------------------


def relative(sentence: Sentence, start: int, end: int) -> int | None:
    """Return the place of the first relative pronoun: after a noun, *who* or a *that* like it."""
    for position in range(max(start, 1), end):
        if sentence.words[position] in RELATIVES and position - 1 in sentence.heads:
            return position
    return None


def in_relative(sentence: Sentence, position: int) -> bool:
    """Say whether a place before the main verb is inside a relative clause of the subject.

    It is where the clause has had no verb yet, be it opened by a pronoun (*the man who the boy _*)
    or not (*the man the boy _*).
    """
    opener = relative(sentence, 0, position)
    if opener is not None:
        return not sentence.verbs(opener + 1, position)
    nouns = [noun for noun in sentence.nouns if noun.position < position and not noun.possessor]
    between = sentence.words[nouns[0].position + 1 : position] if nouns else []
    joined = any(word in PREPOSITIONS | CONJUNCTIONS for word in between)
    return len(nouns) > 1 and not joined and not sentence.verbs(0, position)


def _clause(sentence: Sentence, position: int) -> int:
    """Return where the innermost finite clause begins that holds a place, by its complementizer."""
    for start in range(position - 1, 0, -1):
        word = sentence.words[start]
        if word in {"that", "whether", "if"} and not sentence.determines(start):
            if start - 1 in sentence.heads:
                continue  # "the boy that ..."
            return start + 1
        if word in SUBORDINATORS:
            return start + 1
    return 0


def local_subject(sentence: Sentence, position: int) -> Noun | None:
    """Return the head of the subject of the clause that a word is in.

    That is what c-commands an object reflexive inside its clause: neither a possessor in the
    subject, nor a noun of its relative clause, nor anything outside the clause.

    Args:
        sentence: its words.
        position: of the reflexive.

    Returns:
        ``None``: no noun stands before it.
    """
    start = _clause(sentence, position)
    nouns = [
        noun for noun in sentence.nouns if start <= noun.position < position and not noun.possessor
    ]
    if not nouns:
        return None
    subject = nouns[0]
    opener = relative(sentence, start, position)
    if opener is not None:
        verbs = sentence.verbs(opener + 1, position)
        if len(verbs) < 2:  # it has not ended
            inner = [n for n in nouns if opener < n.position < (verbs[0] if verbs else position)]
            return inner[0] if inner else sentence.heads[opener - 1]
        # Inside a second clause after the relative one: "the man who left said she hurt herself"
        return _later(sentence, subject, verbs[1:], position)
    later = [noun for noun in nouns[1:] if not sentence.verbs(subject.position + 1, noun.position)]
    verbs = sentence.verbs(subject.position + 1, position)
    if later and len(verbs) > 1:  # "the man the boy saw hurt himself"
        verbs = verbs[1:]
    return _later(sentence, subject, verbs, position)


def _later(sentence: Sentence, subject: Noun, verbs: list[int], position: int) -> Noun:
    """Return the subject of a clause without a complementizer, if one begins after a verb."""
    if len(verbs) < 2:
        return subject
    for noun in reversed(sentence.nouns):
        if not verbs[0] < noun.position < verbs[-1] or noun.possessor:
            continue
        between = sentence.words[verbs[-2] + 1 : verbs[-1]]
        if noun.position > verbs[-2] and not set(between) & (PREPOSITIONS - {"to"} | CONJUNCTIONS):
            return noun
    return subject
