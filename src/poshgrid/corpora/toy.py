"""Sentences of the toy grammar, each with its gold dependency tree."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from poshgrid import resources
from poshgrid.corpora.grammar import Grammar, Rule, Word, load
from poshgrid.errors import PoshgridError, check_known

NOTICE = (
    "sentences of a small made-up grammar, to try the workflow. Nothing here is about children or "
    "English."
)
"""What whoever shows results of toy text has to say of it."""
_VOWELS = "aeiou"
_REPEATS = 6  # attempts to find a noun that the sentence does not yet hold


def files() -> list[Path]:
    """Return the files of the toy grammar: whatever reads its sentences depends on them."""
    return [resources.path("toy", "grammar.yaml"), resources.path("toy", "lexicon.yaml")]


def made(manifest: Mapping[str, Any]) -> bool:
    """Say whether a source whose manifest this is was made here."""
    source = (manifest.get("settings") or {}).get("source") or {}
    return bool(source.get("reader") == "toy")


@dataclass(frozen=True)
class ToyToken:
    """A token in Universal Dependencies; ``head`` is 1-based, 0 for the root."""

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int
    deprel: str
    space_after: bool


@dataclass(eq=False)
class _Node:
    """A word on its way into a tree."""

    word: Word
    head: _Node | None = None
    relation: str = "root"


@dataclass
class _Phrase:
    """Words in order, their head, and the verbs whose gap nothing has filled yet."""

    nodes: list[_Node]
    head: _Node
    gaps: list[tuple[_Node, str]] = field(default_factory=list)


@dataclass(frozen=True)
class ToySentence:
    """A sentence with its place in the corpus and the construction that it instantiates."""

    document: str
    position: int
    construction: str
    text: str
    nodes: list[_Node]

    @functools.cached_property
    def tokens(self) -> list[ToyToken]:
        """Return the words with their tree."""
        numbers = {id(node): number for number, node in enumerate(self.nodes, start=1)}
        tokens = []
        for node, (form, space) in zip(self.nodes, _forms(self.nodes), strict=True):
            word, head = node.word, numbers[id(node.head)] if node.head else 0
            forms = (form, word.lemma, word.upos, word.xpos, word.feats)
            tokens.append(ToyToken(*forms, head, node.relation, space))
        return tokens


def sentences(register: str, seed: int) -> Iterator[ToySentence]:
    """Yield sentences of a register without end, in documents of about twenty.

    Args:
        register: ``baby`` or ``wiki``: a key of ``registers`` in the grammar.
        seed: the same seed yields the same sentences.

    Raises:
        PoshgridError: unknown register, or a fault in the grammar.
    """
    grammar = load(resources.path("toy"))
    check_known("toy grammar: unknown register", register, grammar.registers)
    generator = _Generator(grammar, register, random.Random(f"{register}/{seed}"))
    for number in itertools.count():
        document = f"toy-{register}-{seed}-{number:06d}"
        for position in range(grammar.sentences_per_document):
            construction, nodes = generator.draw()
            text = "".join(form + (" " if space else "") for form, space in _forms(nodes))
            yield ToySentence(document, position, construction, text, nodes)


def conllu(sentence: ToySentence) -> str:
    """Return the sentence in CoNLL-U, with its comment lines and the empty line at the end."""
    lines = [
        f"# sent_id = {sentence.document}-{sentence.position:03d}",
        f"# construction = {sentence.construction}",
        f"# text = {sentence.text}",
    ]
    for number, t in enumerate(sentence.tokens, start=1):
        misc = "_" if t.space_after else "SpaceAfter=No"
        columns = (number, t.form, t.lemma, t.upos, t.xpos, t.feats, t.head, t.deprel, "_", misc)
        lines.append("\t".join(map(str, columns)))
    return "\n".join(lines) + "\n\n"


class _Generator:
    """Draws sentences; holds the random state and the nouns that the sentence at hand has used."""

    def __init__(self, grammar: Grammar, register: str, rng: random.Random) -> None:
        self.grammar, self.register, self.rng = grammar, register, rng
        self.used: set[str] = set()
        self.matches: dict[tuple[str, ...], tuple[list[Rule], list[float]]] = {}

    def draw(self) -> tuple[str, list[_Node]]:
        """Draw a sentence: its construction and its words."""
        self.used.clear()
        construction = self._draw(self.grammar.registers[self.register])
        phrase = self._apply(*self._choose(construction, ()), construction)
        if phrase.gaps:
            raise PoshgridError(f"toy grammar: {construction}: a gap that no filler: fills")
        return construction, phrase.nodes

    def _draw(self, weights: dict[str, float]) -> str:
        return self.rng.choices(list(weights), list(weights.values()))[0]

    def _choose(self, symbol: str, features: tuple[str, ...]) -> tuple[Rule, dict[str, str]]:
        """Draw a rule whose heading agrees with the features, and bind the heading's variables."""
        key = (symbol, *features)
        if key not in self.matches:
            rules = self.grammar.rules.get(symbol) or self.grammar.constructions[symbol]
            agreeing = [
                rule
                for rule in rules
                if len(rule.heading) == len(features)
                and all(h.startswith("$") or h == f for h, f in zip(rule.heading, features))  # noqa: B905 - same length
                and rule.weight(self.register) > 0
            ]
            if not agreeing:
                raise PoshgridError(
                    f"toy grammar: no rule for {symbol}({','.join(features)}) in register "
                    f"{self.register!r}; add one to resources/toy/grammar.yaml"
                )
            self.matches[key] = agreeing, [rule.weight(self.register) for rule in agreeing]
        rule = self.rng.choices(*self.matches[key])[0]
        if not features:
            return rule, {}
        return rule, {h: f for h, f in zip(rule.heading, features, strict=True) if h[0] == "$"}

    def _apply(self, rule: Rule, bound: dict[str, str], where: str) -> _Phrase:
        """Build a phrase by a rule."""
        nodes: list[_Node] = []
        gaps: list[tuple[_Node, str]] = []
        dependents: list[tuple[str, _Node]] = []
        head = None
        for part in rule.parts:
            if part.relation == "gap":
                continue
            features = part.features
            if features:
                features = tuple([self._value(f, bound) for f in features])
            phrase = self._expand(part.symbol, features)
            nodes += phrase.nodes
            gaps += phrase.gaps
            if part.relation == "head" and head is None:
                head = phrase.head
            else:
                dependents.append((part.relation, phrase.head))
        assert head is not None  # the grammar is checked when it is read
        gaps += [(head, part.symbol) for part in rule.parts if part.relation == "gap"]
        for relation, node in dependents:
            if relation == "filler":
                if len(gaps) != 1:
                    raise PoshgridError(f"toy grammar: {where}: filler: needs one gap: below it")
                node.head, node.relation = gaps.pop()
            elif relation != "head":
                node.head, node.relation = head, relation
        return _Phrase(nodes, head, gaps)

    def _expand(self, symbol: str, features: tuple[str, ...]) -> _Phrase:
        if symbol in self.grammar.rules:
            return self._apply(*self._choose(symbol, features), symbol)
        if symbol in self.grammar.words:
            node = _Node(self.grammar.words[symbol])
        else:
            node = _Node(self._word(symbol, features))
        return _Phrase([node], node)

    def _value(self, feature: str, bound: dict[str, str]) -> str:
        if not feature.startswith("$"):
            return feature
        if feature not in bound:
            bound[feature] = self._draw(self.grammar.features[feature[1:]])
        return bound[feature]

    def _word(self, symbol: str, features: tuple[str, ...]) -> Word:
        try:
            words = self.grammar.lexicon[(symbol, *features)]
        except KeyError as error:
            raise PoshgridError(
                f"toy grammar: no word is {symbol}({','.join(features)}); "
                "add one to resources/toy/lexicon.yaml"
            ) from error
        for _ in range(_REPEATS):
            word = self.rng.choice(words)
            # Content words do not come twice in a sentence, if it can be helped.
            if word.lemma not in self.used:
                break
        self.used.add(word.lemma)
        return word


def _forms(nodes: list[_Node]) -> Iterator[tuple[str, bool]]:
    """Yield form and following space: capital first, ``an`` before vowels, clitics glued."""
    for node, after in itertools.zip_longest(nodes, nodes[1:]):
        form = node.word.form
        if node.word.lemma == "a" and after is not None and after.word.form[0] in _VOWELS:
            form = "an"
        if node is nodes[0]:
            form = form[0].upper() + form[1:]
        yield form, after is not None and not after.word.glued
