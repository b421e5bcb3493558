"""A small grammar of English that judges our own pairs without knowing how they were made.

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

from collections import defaultdict
from typing import NamedTuple

from poshgrid.benchmark.structure import bare, split
from tests.unit.benchmark.generated import WORDS

PREDICATIVE = {"call", "name", "paint"}  # their second object describes the first
DEEPEST = 1  # relative clauses within relative clauses
WH_ADJUNCTS = {"when", "how", "why", "where"}
WH_ARGUMENTS = {"who", "what"}
REFLEXIVES = {"himself": "m", "herself": "f", "themselves": ""}  # genders; "": plural, any gender
PRONOUNS = {  # number for agreement, genders
    "he": ("singular", "m"), "she": ("singular", "f"), "it": ("singular", ""),
    "they": ("plural", ""), "we": ("plural", ""), "you": ("plural", ""), "i": ("plural", ""),
}  # fmt: skip
NOMINAL = {"noun", "name"}
ANIMATE = frozenset({"person", "animal"})
THINGS = frozenset(k for w in WORDS.of("noun") for k in w.features["kinds"]) - {"person"}


class Reading(NamedTuple):
    """One way to read a form."""

    category: str
    form: str  # its name: singular, past ...
    lemma: str
    features: dict[str, frozenset[str]]

    @property
    def genders(self):
        """Genders of the reflexives that a noun or name may bind; *doctor* binds both."""
        if self.category == "noun" and not self.features["kinds"] & ANIMATE:
            return frozenset()
        return frozenset("mf") if "n" in self.features["gender"] else self.features["gender"]


class Phrase(NamedTuple):
    """A noun phrase, or the filler of a gap."""

    number: str
    genders: frozenset[str]
    kinds: frozenset[str]  # of things that it can name


PERSON = frozenset({"person"})
NEGATED = {"can": "can't", "will": "won't", "shall": "shan't"}
READINGS = defaultdict(list)
for word in WORDS.words:
    for name, form in word.forms.items():
        reading = Reading(word.category, name, word.lemma, word.features)
        READINGS[form.casefold()].append(reading)
        if word.category == "auxiliary":
            READINGS[NEGATED.get(form, f"{form}n't")].append(reading)


def accepts(sentence, *, nonsense=False):
    """Say whether a sentence is grammatical; nonsense: whatever its verbs and nouns mean."""
    parser = Parser(split(sentence), nonsense)
    parses = parser.question() if sentence.endswith("?") else parser.clause(0, None)
    return any(end == len(parser.words) for end, _ in parses)


class Parser:
    """Each method yields the ends of a constituent that begins ``at`` a word.

    With the end comes whether it contains the gap, or for a noun phrase what it is.
    """

    def __init__(self, words, nonsense):
        self.words, self.nonsense = words, nonsense

    def word(self, at):
        return self.words[at] if at < len(self.words) else ""

    def read(self, at, category, form=None):
        known = READINGS.get(self.word(at) if form is None else form, ())
        return [reading for reading in known if reading.category == category]

    # ---- sentences ------------------------------------------------------------------------------

    def question(self):
        if self.word(0) in WH_ADJUNCTS:
            yield from self.inverted(1, None)
        elif self.word(0) in WH_ARGUMENTS:
            gap = self.filler(0)
            yield from (found for found in self.inverted(1, gap) if found[1])
            yield from self.finite(1, gap, None)
        else:
            yield from self.inverted(0, None)

    def filler(self, at):
        who = self.word(at) == "who"
        return Phrase("singular", frozenset("mf" if who else ""), PERSON if who else THINGS)

    def inverted(self, at, gap):
        """Parse auxiliary, subject, verb phrase."""
        for auxiliary in self.read(at, "auxiliary"):
            for end, subject in self.noun_phrase(at + 1, 0):
                if subject.number in auxiliary.features["number"]:
                    yield from self.verb_phrase(end, "base", subject, gap)

    def clause(self, at, gap):
        for end, subject in self.noun_phrase(at, 0):
            yield from self.finite(end, subject, gap)

    def finite(self, at, subject, gap, depth=0):
        for auxiliary in self.read(at, "auxiliary"):
            if subject.number in auxiliary.features["number"]:
                yield from self.verb_phrase(at + 1, "base", subject, gap, depth)
        for form in ("past", "third" if subject.number == "singular" else "base"):
            yield from self.verb_phrase(at, form, subject, gap, depth)

    # ---- noun phrases ---------------------------------------------------------------------------

    def noun_phrase(self, at, depth):
        word = self.word(at)
        if word in PRONOUNS:
            number, gender = PRONOUNS[word]
            yield at + 1, Phrase(number, frozenset(gender), THINGS if word == "it" else PERSON)
        for name in self.read(at, "name"):
            yield at + 1, Phrase("singular", name.genders, PERSON)
        for end, phrase in self.nominal(at):
            yield end, phrase
            if depth < DEEPEST:
                for after in self.relative(end, phrase, depth + 1):
                    yield after, phrase

    def nominal(self, at):
        if self.word(at).endswith("'s") and self.read(at, "name", bare(self.word(at))):
            yield from self.noun(at + 1, None)
        for determiner in self.read(at, "determiner"):
            if self.word(at + 1).endswith("'s"):
                for owner in self.read(at + 1, "noun", bare(self.word(at + 1))):
                    if owner.form in determiner.features["number"]:
                        yield from self.noun(at + 2, None)
            yield from self.noun(at + 1, determiner)
        # only plurals can lack a determiner
        yield from ((end, noun) for end, noun in self.noun(at, None) if noun.number == "plural")

    def noun(self, at, determiner, described=()):
        """Parse adjectives and a noun."""
        for adjective in self.read(at, "adjective"):
            for kind in adjective.features["describes"]:
                yield from self.noun(at + 1, determiner, (*described, kind))
        for noun in self.read(at, "noun"):
            kinds = noun.features["kinds"]
            suits = all(("person" in kinds) == (kind == "person") for kind in described)
            fits = determiner is None or noun.form in determiner.features["number"]
            if fits and (suits or self.nonsense):
                yield at + 1, Phrase(noun.form, noun.genders, kinds)

    def relative(self, at, head, depth):
        """Parse a relative clause about ``head``, which has its own gap and no other."""
        if self.word(at) == "who" and "person" in head.kinds:
            at += 1
            yield from (end for end, _ in self.finite(at, head, None, depth))
        for end, subject in self.noun_phrase(at, depth):
            yield from (e for e, filled in self.finite(end, subject, head, depth) if filled)

    # ---- verb phrases ---------------------------------------------------------------------------

    def verb_phrase(self, at, form, subject, gap, depth=0):
        """Parse a verb in a given form, its complements, and an adjunct after it."""
        if form == "base" and self.word(at) == "wanna":
            yield from self.verb_phrase(at + 1, "base", subject, gap, depth)
        if form == "base" and (self.word(at), self.word(at + 1)) == ("want", "to"):
            yield from self.verb_phrase(at + 2, "base", subject, gap, depth)
            if gap and ("person" in gap.kinds or self.nonsense):  # "who ... want __ to help"
                for end, _ in self.verb_phrase(at + 2, "base", gap, None, depth):
                    yield end, True
        for verb in self.read(at, "verb"):
            if verb.form == form:
                for found in self.complements(at + 1, verb, subject, gap, depth):
                    yield found
                    yield from self.adjunct(*found, subject, depth)

    def adjunct(self, at, filled, subject, depth):
        """Parse ``before leaving``, ``before the girl left``. They are islands, without gaps."""
        roles = {role for r in self.read(at, "function") for role in r.features["roles"]}
        if "subordinator" in roles:
            for end, _ in self.verb_phrase(at + 1, "gerund", subject, None, depth):
                yield end, filled
        if "finite" in roles:
            for end, _ in self.clause(at + 1, None):
                yield end, filled

    def complements(self, at, verb, subject, gap, depth):
        frames, kinds = verb.features["frames"], verb.features["objects"]
        if frames & {"intransitive", "objectless", "either"} or self.nonsense:
            yield at, False
        if "objectless" not in frames:
            reflexive = "reflexive" in frames
            yield from (o[:2] for o in self.object(at, subject, gap, depth, kinds, reflexive))
        if "ditransitive" in frames:
            yield from self.two_objects(at, verb, subject, gap, depth)
        # "find herself reading" is complete, while "find herself" alone needs a complement
        if frames & {"perception", "participle"}:
            for end, filled, seen in self.object(at, subject, gap, depth, kinds):
                rest = None if filled else gap
                forms = [f for f, frame in FORMS.items() if frame in frames]
                parts = [self.verb_phrase(end, form, seen, rest, depth) for form in forms]
                if "participle" in frames:
                    parts.append(self.passive(end, seen, rest, depth))
                yield from ((e, filled or f) for part in parts for e, f in part)
        yield from self.clausal(at, frames, gap)

    def object(self, at, subject, gap, depth, kinds, reflexive=True):
        """Parse a noun phrase, a reflexive, or the gap; yield it with its referent."""
        if gap and (gap.kinds & kinds or self.nonsense):
            yield at, True, gap
        gender = REFLEXIVES.get(self.word(at))
        agrees = subject.number == ("singular" if gender else "plural")
        bound = gender is not None and agrees and (not gender or gender in subject.genders)
        if bound and (reflexive or self.nonsense):
            yield at + 1, False, subject
        for end, phrase in self.noun_phrase(at, depth):
            if phrase.kinds & kinds or self.nonsense:
                yield end, False, phrase

    def two_objects(self, at, verb, subject, gap, depth):
        """Parse ``give the girl the book``, ``ask the girl whether ...``: animate first object.

        This rule belongs to the syntax: *What did he get the door before reading?* is only
        ungrammatical because a door cannot be given anything.
        """
        themes = verb.features["objects"]
        kinds = ANIMATE | themes if verb.lemma in PREDICATIVE else ANIMATE
        for end, filled, recipient in self.object(at, subject, gap, depth, kinds):
            # "what" can refer to an animal, but in "what did he give the book?" not to the
            # recipient.
            if not recipient.kinds & kinds or recipient.kinds == THINGS:
                continue
            rest = None if filled else gap
            for e, f, _ in self.object(end, subject, rest, depth, themes):
                yield e, filled or f
            for e, f in self.clausal(end, verb.features["frames"], rest):
                yield e, filled or f

    def passive(self, at, subject, gap, depth):
        """Parse ``given``, ``given the book``: a ditransitive verb keeps its second object."""
        for verb in self.read(at, "verb"):
            if verb.form == "participle" and "objectless" not in verb.features["frames"]:
                yield at + 1, False
                if "ditransitive" in verb.features["frames"]:
                    themes = verb.features["objects"]
                    yield from (o[:2] for o in self.object(at + 1, subject, gap, depth, themes))

    def clausal(self, at, frames, gap):
        if "that" in frames:  # a gap can only be inside the clause of a bridge verb
            inner = gap if "bridge" in frames or self.nonsense else None
            yield from self.clause(at, inner)
            if self.word(at) == "that":
                yield from self.clause(at + 1, inner)
            if inner:  # "who did she say left"
                yield from ((end, True) for end, _ in self.finite(at, inner, None))
        word = self.word(at)
        if "whether" in frames:  # an embedded question: an island, whose only gap is its own
            if word == "whether" or word in WH_ADJUNCTS:
                yield from ((end, False) for end, _ in self.clause(at + 1, None))
            elif word in WH_ARGUMENTS:
                own = self.filler(at)
                yield from self.finite(at + 1, own, None)
                yield from ((end, False) for end, f in self.clause(at + 1, own) if f)


FORMS = {"base": "perception", "gerund": "participle"}
"""Form of the verb after *see her* -> the frame of verbs that take it."""
CONTROLS = {"neither", "no-gap", "statement"}
"""Cells of joint sets whose bad member is also a sentence: they control for word frequencies."""
VIOLATIONS = {"filler-only", "gap-only"}
"""Cells of crossed joint sets in which no member is a sentence, also to control for frequencies."""


def fault(row):
    """Return what is wrong with a pair of ours; "" if nothing is.

    The good member must be a sentence, the bad one must not, even if any verb may combine with any
    noun: nonsense would not be evidence of syntax.
    """
    good, bad = row["good"], row["bad"]
    cell = row["cell"] if row["joint"] else ""
    if cell in VIOLATIONS:
        return "a member is a sentence" if accepts(good) or accepts(bad) else ""
    if not accepts(good):
        return "good member"
    if cell in CONTROLS:
        return "" if accepts(bad) else "control"
    if accepts(bad, nonsense=True):
        return "bad member"
    reflexives = (set(split(bad)) - set(split(good))) & REFLEXIVES.keys()
    if not all(can_bind(reflexive, split(good)) for reflexive in reflexives):
        return "reflexive"
    # Without "who", a question about an argument lacks that argument: else it has no gap
    questions = [m.partition(" ")[2] for m in (good, bad) if m.startswith(("Who ", "What "))]
    vacuous = row["phenomenon"].startswith("island") and any(map(accepts, questions))
    return "gap" if vacuous else ""


def can_bind(reflexive, words):
    """Return whether a noun or name among words has the gender and number of a reflexive."""
    gender = REFLEXIVES[reflexive]
    known = [reading for word in words for reading in READINGS.get(bare(word), ())]
    nouns = [r for r in known if r.category in NOMINAL and (r.form == "plural") == (not gender)]
    return any(gender in noun.genders if gender else noun.genders for noun in nouns)
