"""Sentences of the toy grammar (``resources/toy``), each with its gold dependency tree.

The first lines of ``grammar.yaml`` explain the notation of the grammar.
"""

from __future__ import annotations

import functools
import itertools
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from poshgrid.core import resources
from poshgrid.core.errors import check_known

NOTICE = (
    "sentences of a small made-up grammar, to try the workflow. Nothing here is about children or "
    "English."
)
"""Notice shown with results of toy text."""
_VOWELS = "aeiou"
_REPEATS = 6  # attempts to find a noun that the sentence does not yet hold
_SYMBOL = re.compile(r"([A-Z][A-Z0-9_]+)(?:\(([^()]*)\))?")
_VERB_FORMS = {
    "base": ("VB", "VerbForm=Inf"),
    "sg": ("VBZ", "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin"),
    "pl": ("VBP", "Mood=Ind|Tense=Pres|VerbForm=Fin"),
    "past": ("VBD", "Mood=Ind|Tense=Past|VerbForm=Fin"),
    "part": ("VBN", "Tense=Past|VerbForm=Part"),
    "ger": ("VBG", "VerbForm=Ger"),
}


def files() -> list[Path]:
    """Return the files of the toy grammar, on which its sentences depend."""
    return [resources.path("toy", "grammar.yaml"), resources.path("toy", "lexicon.yaml")]


def made(manifest: Mapping[str, Any]) -> bool:
    """Return whether a source was generated from the toy grammar.

    Args:
        manifest: the source's manifest.
    """
    source = (manifest.get("settings") or {}).get("source") or {}
    return bool(source.get("reader") == "toy")


class Word(NamedTuple):
    """A word of the lexicon with its analysis in Universal Dependencies."""

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    glued: bool = False  # no space before it


class Part(NamedTuple):
    """``relation:SYMBOL(features)`` in a rule; a ``gap`` part names the missing word's relation."""

    relation: str
    symbol: str
    features: tuple[str, ...]


class Rule(NamedTuple):
    """One way to build a symbol; ``heading`` is its features as the grammar file writes them."""

    heading: tuple[str, ...]
    weights: dict[str, float]  # register -> weight; "" for all registers
    parts: list[Part]

    def weight(self, register: str) -> float:
        """Return the rule's weight in a register."""
        return self.weights.get(register, self.weights.get("", 0.0))


@dataclass(frozen=True)
class Grammar:
    """The toy language: constructions, rules, words."""

    registers: dict[str, dict[str, float]]  # register -> construction -> sentences per thousand
    sentences_per_document: int
    features: dict[str, dict[str, float]]  # feature -> value -> weight
    rules: dict[str, list[Rule]]  # of symbols, and of constructions
    words: dict[str, Word]
    lexicon: dict[tuple[str, ...], list[Word]]  # e.g. ("VERB", "person", "past") -> words


@functools.cache
def load() -> Grammar:
    """Read the grammar and its lexicon."""
    grammar, lexicon = (yaml.safe_load(path.read_text(encoding="utf-8")) for path in files())
    rules: dict[str, list[Rule]] = {}
    for heading, alternatives in itertools.chain(
        grammar["constructions"].items(), grammar["rules"].items()
    ):
        name, features = _symbol(heading)
        rules.setdefault(name, []).extend(_rule(features, text) for text in alternatives)
    return Grammar(
        registers=grammar["registers"],
        sentences_per_document=grammar["sentences_per_document"],
        features=grammar["features"],
        rules=rules,
        words={
            key: Word._make([key.partition("/")[0], *map(str, analysis), key in grammar["glued"]])
            for key, analysis in grammar["words"].items()
        },
        lexicon=_lexicon(lexicon),
    )


def _symbol(text: str) -> tuple[str, tuple[str, ...]]:
    match = _SYMBOL.fullmatch(text)
    if match is None:
        return text, ()
    return match[1], tuple(f.strip() for f in match[2].split(",")) if match[2] else ()


def _rule(heading: tuple[str, ...], text: str) -> Rule:
    weights: dict[str, float] = {}
    fields = text.split()
    while ":" not in fields[0]:
        register, _, weight = fields.pop(0).rpartition("=")
        weights[register] = float(weight)
    pairs = (part.rpartition(":") for part in fields)
    return Rule(heading, weights, [Part(relation, *_symbol(word)) for relation, _, word in pairs])


def _lexicon(tables: dict[str, Any]) -> dict[tuple[str, ...], list[Word]]:
    lexicon: dict[tuple[str, ...], list[Word]] = {}

    def add(word: Word, *keys: str) -> None:
        lexicon.setdefault(keys, []).append(word)

    for kind, group in tables["nouns"].items():
        by_gender = group if kind == "person" else {"": group}
        for gender, pairs in by_gender.items():
            for singular, plural in pairs.items():
                one = Word(singular, singular, "NOUN", "NN", "Number=Sing")
                more = Word(plural, singular, "NOUN", "NNS", "Number=Plur")
                for number, word in (("sg", one), ("pl", more)):
                    add(word, "NOUN", kind, number)
                    if gender:
                        add(word, "PERSON", gender, number)
    for gender, names in tables["names"].items():
        for name in names:
            add(Word(name, name, "PROPN", "NNP", "Number=Sing"), "NAME", gender)
    for kind in tables["nouns"]:
        for adjective in tables["adjectives"].get(kind, tables["adjectives"]["other"]):
            add(Word(adjective, adjective, "ADJ", "JJ", "Degree=Pos"), "ADJ", kind)
    for base, (third, past, participle, gerund, kinds) in tables["verbs"].items():
        forms = (base, third, base, past, participle, gerund)
        for (form, (xpos, feats)), text in zip(_VERB_FORMS.items(), forms, strict=True):
            for kind in kinds.split():
                add(Word(text, base, "VERB", xpos, feats), "VERB", kind, form)
    return lexicon


@dataclass(eq=False)
class _Node:
    """A word while its tree is being built."""

    word: Word
    head: _Node | None = None
    relation: str = "root"


@dataclass
class _Phrase:
    """Words in order, their head, and the verbs whose gaps are not filled yet."""

    nodes: list[_Node]
    head: _Node
    gaps: list[tuple[_Node, str]] = field(default_factory=list)


@dataclass(frozen=True)
class ToySentence:
    """A sentence with its document and its construction."""

    document: str
    construction: str
    text: str
    nodes: list[_Node]

    @property
    def words(self) -> list[tuple[str, ...]]:
        """The words with their tree: the first eight columns of CoNLL-U."""
        numbers = {id(node): number for number, node in enumerate(self.nodes, start=1)}
        return [
            (
                str(number),
                form,
                *node.word[1:5],
                str(numbers[id(node.head)] if node.head else 0),
                node.relation,
            )
            for number, (node, (form, _)) in enumerate(
                zip(self.nodes, _forms(self.nodes), strict=True), start=1
            )
        ]


def sentences(register: str, seed: int) -> Iterator[ToySentence]:
    """Yield sentences of a register without end, in documents of ``sentences_per_document``.

    Args:
        register: ``baby`` or ``wiki``: a key of ``registers`` in the grammar.
        seed: the same seed yields the same sentences.

    Raises:
        PoshgridError: unknown register.
    """
    grammar = load()
    check_known("toy grammar: unknown register", register, grammar.registers)
    generator = _Generator(grammar, register, random.Random(f"{register}/{seed}"))
    for number in itertools.count():
        document = f"toy-{register}-{seed}-{number:06d}"
        for _ in range(grammar.sentences_per_document):
            construction, nodes = generator.draw()
            text = "".join(form + (" " if space else "") for form, space in _forms(nodes))
            yield ToySentence(document, construction, text, nodes)


class _Generator:
    """Draws sentences; holds the random state and the words already used in the sentence."""

    def __init__(self, grammar: Grammar, register: str, rng: random.Random) -> None:
        self.grammar, self.register, self.rng = grammar, register, rng
        self.used: set[str] = set()
        self.matches: dict[tuple[str, ...], tuple[list[Rule], list[float]]] = {}

    def draw(self) -> tuple[str, list[_Node]]:
        """Draw a sentence; return its construction and its words."""
        self.used.clear()
        construction = self._draw(self.grammar.registers[self.register])
        return construction, self._apply(*self._choose(construction, ())).nodes

    def _draw(self, weights: dict[str, float]) -> str:
        return self.rng.choices(list(weights), list(weights.values()))[0]

    def _choose(self, symbol: str, features: tuple[str, ...]) -> tuple[Rule, dict[str, str]]:
        """Draw a rule whose heading agrees with the features; bind the heading's variables."""
        key = (symbol, *features)
        if key not in self.matches:
            agreeing = [
                rule
                for rule in self.grammar.rules[symbol]
                if len(rule.heading) == len(features)
                and all(h.startswith("$") or h == f for h, f in zip(rule.heading, features))  # noqa: B905 - same length
            ]
            self.matches[key] = agreeing, [rule.weight(self.register) for rule in agreeing]
        rule = self.rng.choices(*self.matches[key])[0]
        return rule, {h: f for h, f in zip(rule.heading, features, strict=True) if h[0] == "$"}

    def _apply(self, rule: Rule, bound: dict[str, str]) -> _Phrase:
        """Build a phrase with a rule."""
        nodes: list[_Node] = []
        gaps: list[tuple[_Node, str]] = []
        dependents: list[tuple[str, _Node]] = []
        head = None
        for part in rule.parts:
            if part.relation == "gap":
                continue
            features = tuple([self._value(feature, bound) for feature in part.features])
            phrase = self._expand(part.symbol, features)
            nodes += phrase.nodes
            gaps += phrase.gaps
            if part.relation == "head":
                head = phrase.head
            else:
                dependents.append((part.relation, phrase.head))
        assert head is not None  # each rule of the grammar has one
        gaps += [(head, part.symbol) for part in rule.parts if part.relation == "gap"]
        for relation, node in dependents:
            node.head, node.relation = gaps.pop() if relation == "filler" else (head, relation)
        return _Phrase(nodes, head, gaps)

    def _expand(self, symbol: str, features: tuple[str, ...]) -> _Phrase:
        if symbol in self.grammar.rules:
            return self._apply(*self._choose(symbol, features))
        node = _Node(self.grammar.words.get(symbol) or self._word(symbol, features))
        return _Phrase([node], node)

    def _value(self, feature: str, bound: dict[str, str]) -> str:
        if not feature.startswith("$"):
            return feature
        if feature not in bound:
            bound[feature] = self._draw(self.grammar.features[feature[1:]])
        return bound[feature]

    def _word(self, symbol: str, features: tuple[str, ...]) -> Word:
        words = self.grammar.lexicon[(symbol, *features)]
        for _ in range(_REPEATS):
            word = self.rng.choice(words)
            # Avoid using a content word twice in a sentence.
            if word.lemma not in self.used:
                break
        self.used.add(word.lemma)
        return word


def _forms(nodes: list[_Node]) -> Iterator[tuple[str, bool]]:
    """Yield (form, whether a space follows), with a first capital, *an* and clitics."""
    for node, after in itertools.zip_longest(nodes, nodes[1:]):
        form = node.word.form
        if node.word.lemma == "a" and after is not None and after.word.form[0] in _VOWELS:
            form = "an"
        if node is nodes[0]:
            form = form[0].upper() + form[1:]
        yield form, after is not None and not after.word.glued
