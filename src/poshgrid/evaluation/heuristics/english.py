"""The English that heuristics know: word classes, noun phrases and clauses.

Words come from the lexicon and from lists of closed classes. Heuristics work on any file of pairs:
the class of an unknown word is guessed from its neighbours, as in *the Canadian child*. If it is
unclear, the heuristic does not decide.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from poshgrid.benchmark import lexicon
from poshgrid.evidence.closed_classes import listed

_WORD = re.compile(r"[^\W\d_]+['’]t\b|['’]s\b|[^\W\d_]+")
POSSESSIVE = "'s"
DO = frozenset({"do", "does", "did", "don't", "doesn't", "didn't"})
_OTHER_AUXILIARIES = listed(
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
_DETERMINERS = listed("the a an this that these those my your his her its our their no")
_GENDERED = {"male": "m", "female": "f"}
"""Adjectives that determine the gender of their noun."""
PREPOSITIONS = listed(
    "about at to with of for on in up out by from near beside behind into over under"
)
SUBORDINATORS = listed("because when if since until although before after while without")
INTERROGATIVES = listed("whether who whom what which when where why how")
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
    """A noun phrase, represented by its head."""

    index: int  # of the head among the words
    genders: frozenset[str]  # possible genders (m, f, n); empty: first or second person
    numbers: frozenset[str]
    possessor: bool = False  # whether "'s" follows

    def binds(self, reflexive: str) -> bool:
        """Return whether the noun agrees with a reflexive in gender and number."""
        genders, numbers = REFLEXIVES[reflexive]
        return bool(self.genders & genders) and bool(self.numbers & numbers)


@dataclass(frozen=True)
class Known:
    """The words of the lexicon by class."""

    nouns: dict[str, tuple[frozenset[str], frozenset[str]]]  # form -> genders, numbers
    names: dict[str, frozenset[str]]
    verbs: frozenset[str]  # all forms
    bases: frozenset[str]
    finite: frozenset[str]  # third person and past
    transitive: frozenset[str]  # base forms that may have an object
    ditransitive: frozenset[str]  # all forms of verbs that may have two objects
    adjectives: frozenset[str]
    auxiliaries: frozenset[str]
    determiners: frozenset[str]
    function: frozenset[str]

    def closes(self, word: str) -> bool:
        """Return whether a word belongs to a closed class, or is an adverb in -ly."""
        closed = (self.auxiliaries, self.determiners, self.function, _CLOSED)
        return word.endswith("ly") or any(word in words for words in closed)


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
    """A sentence's words, case-folded. *Ann's* is two words, *can't* is one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.written = [match.replace("’", "'") for match in _WORD.findall(text)]
        self.words = [word.casefold() for word in self.written]

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def nouns(self) -> list[Noun]:
        """The noun phrases, from left to right."""
        phrases, index = [], 0
        while index < len(self):
            head = self._head(index)
            if head is None:
                index += 1
                continue
            possessor = self.words[head + 1 : head + 2] == [POSSESSIVE]
            phrases.append(Noun(head, *self._features(index, head), possessor))
            index = head + 1
        return phrases

    def before(self, index: int) -> list[Noun]:
        """Return the noun phrases whose heads are before a word, from left to right."""
        return [noun for noun in self.nouns if noun.index < index]

    @cached_property
    def heads(self) -> dict[int, Noun]:
        """Index of a word -> the noun whose head it is."""
        return {noun.index: noun for noun in self.nouns}

    def _head(self, index: int) -> int | None:
        """Return the index of the head of a noun phrase that begins here; None without one."""
        word = self.words[index]
        if word in known().names or word in _PRONOUNS:
            return index
        if self.determines(index) or word == POSSESSIVE:
            return self._head_after_determiner(index + 1)
        if index and self.written[index][:1].isupper():
            return index  # a name that is not in the lexicon
        # "the teacher who trains Ann": a verb, not a plural noun
        verbal = word in known().verbs or self.words[max(index - 1, 0)] in ("who", "which", "to")
        return index if word in known().nouns and not verbal else None

    def _head_after_determiner(self, start: int) -> int | None:
        """Return the index of the head: the first word after the adjectives of a determiner.

        It is the next word if the first is unknown and the next can only be a noun.
        """
        index = start
        while index < len(self) and self._describes(index):
            index += 1
        if index >= len(self):
            return None
        following = self.words[index + 1 : index + 2]
        unknown = self.words[index] not in known().nouns
        if unknown and following and following[0] in known().nouns.keys() - known().verbs:
            return index + 1  # "the Canadian child"
        return index

    def _describes(self, index: int) -> bool:
        word = self.words[index]
        return word in known().adjectives or word in _GENDERED or word == "other"

    def _features(self, start: int, head: int) -> tuple[frozenset[str], frozenset[str]]:
        """Return the possible genders and numbers of a noun phrase."""
        word = self.words[head]
        if word in _PRONOUNS:
            genders, numbers = _PRONOUNS[word]
            return frozenset(genders), frozenset(numbers)
        if word in known().names and not self.determines(start):
            return known().names[word], frozenset({"singular"})
        genders, numbers = known().nouns.get(word, (GENDERS, NUMBERS))
        if word not in known().nouns and start == head:  # a name
            genders, numbers = frozenset("mf"), frozenset({"singular"})
        explicit = {_GENDERED[w] for w in self.words[start:head] if w in _GENDERED}
        return frozenset(explicit) or genders, numbers

    def determines(self, index: int) -> bool:
        """Return whether a word is a determiner here (*that* may also begin a clause)."""
        word = self.words[index]
        if word not in known().determiners or index + 1 >= len(self):
            return False
        after = self.words[index + 1]
        if word in ("that", "her"):
            numbers = known().nouns.get(after, ((), NUMBERS))[1]
            return not (
                self.opens(index + 1) or "singular" not in numbers or after in known().auxiliaries
            )
        return True

    def opens(self, index: int) -> bool:
        """Return whether a noun phrase begins here, judged by its first word alone."""
        word = self.words[index]
        if word == "that":
            return self.determines(index)
        return (
            word in known().determiners
            or word in _PRONOUNS
            or word in known().names
            or (index > 0 and self.written[index][:1].isupper())
        )

    def verbs(self, start: int, end: int) -> list[int]:
        """Return the indices of words that can only be verbs: in no noun phrase or closed class."""
        covered = {
            index
            for noun in self.nouns
            for index in range(self._phrase_start(noun.index), noun.index + 1)
        }
        return [
            index
            for index in range(start, end)
            if index not in covered and not known().closes(self.words[index])
        ]

    def _phrase_start(self, head: int) -> int:
        """Return the index of the first word of a noun phrase, given its head."""
        index = head
        while index > 0 and (self._describes(index - 1) or self.determines(index - 1)):
            index -= 1
        return index


def difference(first: Sequence[str], second: Sequence[str]) -> int | None:
    """Return the first index at which words differ; None if one is the beginning of the other."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((index for index, (one, other) in pairs if one != other), None)


# ---- clauses ------------------------------------------------------------------------------------


def relative(sentence: Sentence, start: int, end: int) -> int | None:
    """Return the index of the first relative pronoun: *who*, *that* ... directly after a noun."""
    for index in range(max(start, 1), end):
        if sentence.words[index] in RELATIVES and index - 1 in sentence.heads:
            return index
    return None


def in_relative(sentence: Sentence, index: int) -> bool:
    """Return whether a word before the main verb is inside a relative clause of the subject.

    It is if the relative clause has no verb yet, with a pronoun (*the man who the boy _*) or
    without (*the man the boy _*).
    """
    opener = relative(sentence, 0, index)
    if opener is not None:
        return not sentence.verbs(opener + 1, index)
    nouns = [noun for noun in sentence.before(index) if not noun.possessor]
    between = sentence.words[nouns[0].index + 1 : index] if nouns else []
    joined = any(word in PREPOSITIONS | CONJUNCTIONS for word in between)
    return len(nouns) > 1 and not joined and not sentence.verbs(0, index)


def _clause(sentence: Sentence, index: int) -> int:
    """Return where the innermost finite clause with a word begins, after its complementizer."""
    for start in range(index - 1, 0, -1):
        word = sentence.words[start]
        if word in {"that", "whether", "if"} and not sentence.determines(start):
            if start - 1 in sentence.heads:
                continue  # "the boy that ..."
            return start + 1
        if word in SUBORDINATORS:
            return start + 1
    return 0


def local_subject(sentence: Sentence, index: int) -> Noun | None:
    """Return the head of the subject of the clause that a reflexive is in.

    The subject c-commands an object reflexive within its clause. A possessor in the subject, a noun
    in the subject's relative clause, and nouns outside the clause do not.

    Args:
        sentence: its words.
        index: of the reflexive.

    Returns:
        None if no noun is before the reflexive.
    """
    start = _clause(sentence, index)
    nouns = [n for n in sentence.before(index) if start <= n.index and not n.possessor]
    if not nouns:
        return None
    subject = nouns[0]
    opener = relative(sentence, start, index)
    if opener is not None:
        verbs = sentence.verbs(opener + 1, index)
        if len(verbs) < 2:  # the relative clause has not ended
            inner = [n for n in nouns if opener < n.index < (verbs[0] if verbs else index)]
            return inner[0] if inner else sentence.heads[opener - 1]
        # Inside a second clause after the relative one: "the man who left said she hurt herself"
        return _later_subject(sentence, subject, verbs[1:])
    return _later_subject(sentence, subject, sentence.verbs(subject.index + 1, index))


def _later_subject(sentence: Sentence, subject: Noun, verbs: list[int]) -> Noun:
    """Return the subject of a later clause without a complementizer, else the first subject."""
    if len(verbs) < 2:
        return subject
    for noun in reversed(sentence.nouns):
        if not verbs[0] < noun.index < verbs[-1] or noun.possessor:
            continue
        between = sentence.words[verbs[-2] + 1 : verbs[-1]]
        if noun.index > verbs[-2] and not set(between) & (PREPOSITIONS - {"to"} | CONJUNCTIONS):
            return noun
    return subject
