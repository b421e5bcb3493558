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

    place: int  # of the head among the words
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
    auxiliaries |= {f"{each}n't" for each in auxiliaries} | DO | _OTHER_AUXILIARIES
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
        self.written = [found.replace("’", "'") for found in _WORD.findall(text)]
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
        return {noun.place: noun for noun in self.nouns}

    def _nouns(self) -> Iterator[Noun]:
        place = 0
        while place < len(self):
            head = self._head(place)
            if head is None:
                place += 1
                continue
            possessor = self.words[head + 1 : head + 2] == [POSSESSIVE]
            yield Noun(head, *self._features(place, head), possessor)
            place = head + 1

    def _head(self, place: int) -> int | None:
        """Return the head of a noun phrase that begins at a place."""
        word = self.words[place]
        if word in known().names or word in _PRONOUNS:
            return place
        if self.determines(place) or word == POSSESSIVE:
            return self._after(place + 1)
        if place and self.written[place][:1].isupper():
            return place  # a name that the lexicon does not have
        # "the teacher who trains Ann": no plural
        verbal = word in known().verbs or self.words[max(place - 1, 0)] in ("who", "which", "to")
        return place if word in known().nouns and not verbal else None

    def _after(self, start: int) -> int | None:
        """Return the head after a determiner: the first noun, over words that may be adjectives."""
        place = start
        while place < len(self) and self.words[place] in known().adjectives | {*_GENDERED, "other"}:
            place += 1
        if place >= len(self):
            return None
        following = self.words[place + 1 : place + 2]
        unknown = self.words[place] not in known().nouns
        if unknown and following and following[0] in known().nouns.keys() - known().verbs:
            return place + 1  # "the Canadian child"
        return place

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

    def determines(self, place: int) -> bool:
        """Say whether a word is a determiner: *that* also opens clauses."""
        word = self.words[place]
        if word not in known().determiners or place + 1 >= len(self):
            return False
        after = self.words[place + 1]
        if word in ("that", "her"):
            numbers = known().nouns.get(after, ((), NUMBERS))[1]
            return not (
                self.opens(place + 1) or "singular" not in numbers or after in known().auxiliaries
            )
        return True

    def opens(self, place: int) -> bool:
        """Say whether a noun phrase begins at a place, judged by its first word alone."""
        word = self.words[place]
        if word == "that":
            return self.determines(place)
        return (
            word in known().determiners
            or word in _PRONOUNS
            or word in known().names
            or (place > 0 and self.written[place][:1].isupper())
        )

    def verbs(self, start: int, end: int) -> list[int]:
        """Return the places of what can only be verbs: no noun, and of no other known class."""
        covered = {
            place for noun in self.nouns for place in range(self._start(noun.place), noun.place + 1)
        }
        return [
            place
            for place in range(start, end)
            if place not in covered and not known().closes(self.words[place])
        ]

    def _start(self, head: int) -> int:
        place = head
        while place > 0 and (
            self.words[place - 1] in known().adjectives | {*_GENDERED, "other"}
            or self.determines(place - 1)
        ):
            place -= 1
        return place


def difference(first: Sequence[str], second: Sequence[str]) -> int | None:
    """Return the first place at which words differ; ``None``: one is the other's beginning."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((place for place, (one, other) in pairs if one != other), None)


# ---- clauses ------------------------------------------------------------------------------------


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
