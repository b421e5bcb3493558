"""A small grammar of English, to judge sentences without knowing how they were made.

It accepts simple declaratives, yes/no questions and wh-questions with relative clauses, complement
clauses, gerund and finite adjuncts, perception verbs, *wanna* and *want to*. It is a recursive
descent parser that passes one gap through the sentence (Gazdar 1981, "Unbounded dependencies and
coordinate structure"), and it knows the rules that the phenomena are about:

- a gap is filled once, and not in an adjunct, a relative clause or a question (islands: Ross 1967);
- a reflexive agrees with the subject of its own clause (Principle A: Chomsky 1981);
- a question moves the auxiliary of the main clause;
- *wanna* does not contract over a gap: its subject is the subject of the question; *want to* may
  have a gap between its words.

Words and their features come from the lexicon. Nothing is read from the templates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from poshgrid.benchmark.checks.readings import (
    ANIMATE,
    PRONOUNS,
    REFLEXIVES,
    WH_ADJUNCTS,
    WH_ARGUMENTS,
    Reading,
    Readings,
    genders,
)

# The second object of these verbs describes the first.
_PREDICATIVE = frozenset({"call", "name", "paint"})
_DEEPEST = 1  # relative clauses within relative clauses

Tag = str | tuple[str, int, int]
Tags = frozenset[Tag]
"""Constructions of a parse, and ("bound", position of a reflexive, position of its binder)."""
NONE: Tags = frozenset()


class Phrase(NamedTuple):
    """A noun phrase, or the filler of a gap."""

    number: str  # singular or plural, for agreement with verbs
    genders: frozenset[str]  # of the reflexives that it may bind
    kinds: frozenset[str]  # kinds of things that it can name; empty: any
    head: int  # position of its noun


class Found(NamedTuple):
    """A constituent, by its end; its beginning is known to the caller."""

    end: int
    filled: bool  # whether it contains the gap
    tags: Tags


class Parser:
    """A sentence and its parses.

    Args:
        words: its words, lower-cased.
        known: form -> its possible readings.
        nonsense: accept any combination of verbs, adjectives and nouns, and check only the syntax.
    """

    def __init__(self, words: Sequence[str], known: Readings, *, nonsense: bool = False) -> None:
        self._words = tuple(words)
        self._known = known
        self._nonsense = nonsense

    def parses(self, *, question: bool) -> list[Tags]:
        """Return the constructions of each parse; [] if the grammar rejects the sentence.

        Args:
            question: whether the sentence ends in a question mark.
        """
        sentences = self._question() if question else self._clause(0, None)
        return list(dict.fromkeys(f.tags for f in sentences if f.end == len(self._words)))

    # ---- sentences ------------------------------------------------------------------------------

    def _question(self) -> Iterator[Found]:
        first = self._at(0)
        if first in WH_ADJUNCTS:
            yield from self._inverted(1, None, frozenset({"adjunct question"}))
        elif first in WH_ARGUMENTS:
            gap = self._wh(0)
            tags = frozenset({"argument question"})
            yield from (f for f in self._inverted(1, gap, tags) if f.filled)
            yield from self._finite(1, gap, None)
        else:
            yield from self._inverted(0, None, frozenset({"yes/no question"}))

    def _inverted(self, at: int, gap: Phrase | None, tags: Tags) -> Iterator[Found]:
        """Parse auxiliary, subject, verb phrase."""
        for aux in self._readings(at, "auxiliary"):
            for end, subject, inner in self._noun_phrase(at + 1, 0):
                if self._agrees(aux, subject.number):
                    for f in self._verb_phrase(end, "base", subject, gap):
                        yield f._replace(tags=f.tags | inner | tags)

    def _clause(self, at: int, gap: Phrase | None) -> Iterator[Found]:
        """Parse subject and finite verb phrase."""
        for end, subject, inner in self._noun_phrase(at, 0):
            for f in self._finite(end, subject, gap):
                yield f._replace(tags=f.tags | inner)

    def _finite(
        self, at: int, subject: Phrase, gap: Phrase | None, depth: int = 0
    ) -> Iterator[Found]:
        for aux in self._readings(at, "auxiliary"):
            if self._agrees(aux, subject.number):
                yield from self._verb_phrase(at + 1, "base", subject, gap, depth)
        for form in ("past", "third" if subject.number == "singular" else "base"):
            yield from self._verb_phrase(at, form, subject, gap, depth)

    # ---- noun phrases ---------------------------------------------------------------------------

    def _noun_phrase(self, at: int, depth: int) -> Iterator[tuple[int, Phrase, Tags]]:
        for end, phrase, tags in self._nominal(at):
            yield end, phrase, tags
            if depth < _DEEPEST and "simple" not in tags:
                for f in self._relative(end, phrase, depth + 1):
                    yield f.end, phrase, tags | f.tags

    def _nominal(self, at: int) -> Iterator[tuple[int, Phrase, Tags]]:
        word = self._at(at)
        if word in PRONOUNS:
            number, gender = PRONOUNS[word]
            kinds = self._known.things if word == "it" else frozenset({"person"})
            yield at + 1, Phrase(number, frozenset(gender), kinds, at), frozenset({"simple"})
        for name in self._readings(at, "name"):
            phrase = Phrase("singular", genders(name), frozenset({"person"}), at)
            yield at + 1, phrase, frozenset({"simple"})
        if word.endswith("'s"):
            for _ in self._readings(at, "name", word.removesuffix("'s")):
                yield from self._noun(at + 1, None, frozenset({"possessor"}))
        for determiner in self._readings(at, "determiner"):
            owner = self._at(at + 1)
            if owner.endswith("'s"):
                for noun in self._readings(at + 1, "noun", owner.removesuffix("'s")):
                    if noun.form in determiner.features["number"]:
                        yield from self._noun(at + 2, None, frozenset({"possessor"}))
            yield from self._noun(at + 1, determiner, NONE)
        for end, phrase, tags in self._noun(at, None, NONE):
            if phrase.number == "plural":  # only plurals can lack a determiner
                yield end, phrase, tags

    def _noun(
        self, at: int, determiner: Reading | None, tags: Tags, described: tuple[str, ...] = ()
    ) -> Iterator[tuple[int, Phrase, Tags]]:
        """Parse adjectives and a noun."""
        for adjective in self._readings(at, "adjective"):
            for kind in adjective.features["describes"]:
                yield from self._noun(at + 1, determiner, tags, (*described, kind))
        for noun in self._readings(at, "noun"):
            kinds = noun.features["kinds"]
            suits = all(("person" in kinds) == (kind == "person") for kind in described)
            fits = determiner is None or noun.form in determiner.features["number"]
            if fits and self._sensible(suits):
                yield at + 1, Phrase(noun.form, genders(noun), kinds, at), tags

    def _relative(self, at: int, head: Phrase, depth: int) -> Iterator[Found]:
        """Parse a relative clause about ``head``, which has its own gap and no other."""
        if self._at(at) == "who" and "person" in head.kinds:
            for f in self._finite(at + 1, head, None, depth):
                yield f._replace(tags=f.tags | {"subject relative"})
            yield from self._object_relative(at + 1, head, depth, "object relative")
        yield from self._object_relative(at, head, depth, "reduced relative")

    def _object_relative(self, at: int, head: Phrase, depth: int, tag: str) -> Iterator[Found]:
        for end, subject, inner in self._noun_phrase(at, depth):
            for f in self._finite(end, subject, head, depth):
                if f.filled:
                    yield Found(f.end, False, f.tags | inner | {tag})

    def _wh(self, at: int) -> Phrase:
        if self._at(at) == "who":
            return Phrase("singular", frozenset("mf"), frozenset({"person"}), at)
        return Phrase("singular", frozenset(), self._known.things, at)

    # ---- verb phrases ---------------------------------------------------------------------------

    def _verb_phrase(
        self, at: int, form: str, subject: Phrase, gap: Phrase | None, depth: int = 0
    ) -> Iterator[Found]:
        """Parse a verb in a given form, its complements, and a gerund adjunct after it."""
        if self._at(at) == "wanna" and form == "base":
            for f in self._verb_phrase(at + 1, "base", subject, gap, depth):
                yield f._replace(tags=f.tags | {"wanna"})
        if self._at(at) == "want" and self._at(at + 1) == "to" and form == "base":
            yield from self._want(at + 2, subject, gap, depth)
        seen = set()
        for verb in self._readings(at, "verb"):
            if verb.form != form or verb.lemma in seen:
                continue
            seen.add(verb.lemma)
            for f in self._complements(at + 1, verb, subject, gap, depth):
                yield f
                yield from self._adjunct(f, subject, depth)

    def _want(self, at: int, subject: Phrase, gap: Phrase | None, depth: int) -> Iterator[Found]:
        """Parse ``want to help``, and ``who ... want __ to help``, whose gap is the subject."""
        for f in self._verb_phrase(at, "base", subject, gap, depth):
            yield f._replace(tags=f.tags | {"want to"})
        if gap and self._sensible("person" in gap.kinds):
            for f in self._verb_phrase(at, "base", gap, None, depth):
                yield Found(f.end, True, f.tags | {"want to", "subject gap"})

    def _adjunct(self, main: Found, subject: Phrase, depth: int) -> Iterator[Found]:
        """Parse ``before leaving``, ``before the girl left``: islands, so the gap is not inside.

        The subject of a gerund is the subject of the main clause.
        """
        roles = {role for r in self._readings(main.end, "function") for role in r.features["roles"]}
        if "subordinator" in roles:
            for f in self._verb_phrase(main.end + 1, "gerund", subject, None, depth):
                yield Found(f.end, main.filled, main.tags | f.tags | {"adjunct"})
        if "finite" in roles:
            for f in self._clause(main.end + 1, None):
                yield Found(f.end, main.filled, main.tags | f.tags | {"adjunct"})

    def _complements(
        self, at: int, verb: Reading, subject: Phrase, gap: Phrase | None, depth: int
    ) -> Iterator[Found]:
        frames = verb.features["frames"]
        bare = bool(frames & {"intransitive", "objectless", "either"})
        if self._sensible(bare):
            yield Found(at, False, NONE)
        if "objectless" not in frames:
            for f, _ in self._object(at, subject, gap, depth, verb.features["objects"], verb):
                yield f
        if "ditransitive" in frames:
            yield from self._two_objects(at, verb, subject, gap, depth)
        yield from self._perceived(at, verb, subject, gap, depth)
        yield from self._clausal(at, frames, gap)

    def _object(
        self,
        at: int,
        subject: Phrase,
        gap: Phrase | None,
        depth: int,
        kinds: frozenset[str],
        verb: Reading | None,
    ) -> Iterator[tuple[Found, Phrase]]:
        """Parse a noun phrase, a reflexive, or the gap; yield it with its referent."""
        if gap and self._sensible(bool(gap.kinds & kinds)):
            yield Found(at, True, NONE), gap
        gender = REFLEXIVES.get(self._at(at))
        number = "singular" if gender else "plural"
        if (
            gender is not None
            and subject.number == number
            and (not gender or gender in subject.genders)
            and self._sensible(verb is None or "reflexive" in verb.features["frames"])
        ):
            yield Found(at + 1, False, frozenset({("bound", at, subject.head)})), subject
        for end, phrase, tags in self._noun_phrase(at, depth):
            if self._sensible(bool(phrase.kinds & kinds)):
                yield Found(end, False, tags), phrase

    def _two_objects(
        self, at: int, verb: Reading, subject: Phrase, gap: Phrase | None, depth: int
    ) -> Iterator[Found]:
        """Parse ``give the girl the book``, ``ask the girl whether ...``: animate first object.

        This rule belongs to the syntax: *What did he get the door before reading?* is only
        ungrammatical because a door cannot be given anything.
        """
        kinds = ANIMATE
        if verb.lemma in _PREDICATIVE:
            kinds = ANIMATE | verb.features["objects"]
        for first, recipient in self._object(at, subject, gap, depth, kinds, None):
            # "what" can refer to an animal, but in "what did he give the book?" not to the
            # recipient.
            if not recipient.kinds & kinds or recipient.kinds == self._known.things:
                continue
            rest = None if first.filled else gap
            themes = verb.features["objects"]
            for second, _ in self._object(first.end, subject, rest, depth, themes, None):
                yield _joined(first, second)
            for second in self._clausal(first.end, verb.features["frames"], rest):
                yield _joined(first, second)

    def _perceived(
        self, at: int, verb: Reading, subject: Phrase, gap: Phrase | None, depth: int
    ) -> Iterator[Found]:
        """Parse ``see the girl leave``, ``see herself leaving``, ``see herself given the book``."""
        frames = verb.features["frames"]
        infinitive, participle = "perception" in frames, "participle" in frames
        if not infinitive and not participle:
            return
        # "find herself reading" is complete, while "find herself" alone needs a complement
        for first, seen in self._object(at, subject, gap, depth, verb.features["objects"], None):
            rest = None if first.filled else gap
            if infinitive:
                for second in self._verb_phrase(first.end, "base", seen, rest, depth):
                    yield _joined(first, second)
            if participle:
                for second in self._verb_phrase(first.end, "gerund", seen, rest, depth):
                    yield _joined(first, second, frozenset({"perceived gerund"}))
                for second in self._passive(first.end, seen, rest, depth):
                    yield _joined(first, second)

    def _passive(self, at: int, subject: Phrase, gap: Phrase | None, depth: int) -> Iterator[Found]:
        """Parse ``given``, ``given the book``: a ditransitive verb keeps its second object."""
        for verb in self._readings(at, "verb"):
            if verb.form == "participle" and "objectless" not in verb.features["frames"]:
                yield Found(at + 1, False, NONE)
                if "ditransitive" in verb.features["frames"]:
                    themes = verb.features["objects"]
                    for f, _ in self._object(at + 1, subject, gap, depth, themes, None):
                        yield f

    def _clausal(self, at: int, frames: frozenset[str], gap: Phrase | None) -> Iterator[Found]:
        if "that" in frames:
            # A gap can only be inside the clause of a bridge verb.
            bridge = self._sensible("bridge" in frames)
            yield from (f for f in self._declarative(at, gap) if bridge or not f.filled)
        if "whether" in frames:
            yield from self._asked(at)

    def _declarative(self, at: int, gap: Phrase | None) -> Iterator[Found]:
        """Parse a declarative clause; without *that*, its subject may be the gap.

        An example is *Who did she say left*.
        """
        if self._at(at) == "that":
            for f in self._clause(at + 1, gap):
                yield f._replace(tags=f.tags | {"that clause"})
        for f in self._clause(at, gap):
            yield f._replace(tags=f.tags | {"clause"})
        if gap:
            for f in self._finite(at, gap, None):
                yield f._replace(filled=True)

    def _asked(self, at: int) -> Iterator[Found]:
        """Parse an embedded question: an island, so the only gap inside is its own."""
        word = self._at(at)
        if word == "whether" or word in WH_ADJUNCTS:
            for f in self._clause(at + 1, None):
                yield f._replace(tags=f.tags | {f"{word} clause"})
        elif word in WH_ARGUMENTS:
            own = self._wh(at)
            yield from self._finite(at + 1, own, None)
            for f in self._clause(at + 1, own):
                if f.filled:
                    yield f._replace(filled=False)

    # ---- words ----------------------------------------------------------------------------------

    def _at(self, position: int) -> str:
        return self._words[position] if position < len(self._words) else ""

    def _readings(self, position: int, category: str, form: str | None = None) -> list[Reading]:
        word = self._at(position) if form is None else form
        return [r for r in self._known.get(word, ()) if r.category == category]

    def _agrees(self, word: Reading, number: str) -> bool:
        return number in word.features["number"]

    def _sensible(self, holds: bool) -> bool:
        return holds or self._nonsense


def _joined(first: Found, second: Found, tags: Tags = NONE) -> Found:
    return Found(second.end, first.filled or second.filled, first.tags | second.tags | tags)
