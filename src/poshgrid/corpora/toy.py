"""Sentences of the toy grammar, each with its gold dependency tree."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from poshgrid import resources
from poshgrid.corpora.grammar import Grammar, Part, Rule, Word, load
from poshgrid.errors import PoshgridError, did_you_mean

_VOWELS = "aeiou"
_REPEATS = 6  # attempts to find a noun that the sentence does not yet hold


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


@dataclass(frozen=True)
class ToySentence:
    """A sentence with its place in the corpus and the construction that it instantiates."""

    document: str
    position: int
    construction: str
    text: str
    tokens: list[ToyToken]


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


def sentences(register: str, seed: int) -> Iterator[ToySentence]:
    """Yield sentences of a register without end, in documents of about twenty.

    Args:
        register: ``baby`` or ``wiki``: a key of ``registers`` in the grammar.
        seed: the same seed yields the same sentences.

    Raises:
        PoshgridError: unknown register, or a fault in the grammar.
    """
    grammar = load(resources.path("toy"))
    if register not in grammar.registers:
        raise PoshgridError(
            f"toy grammar: unknown register {register!r}{did_you_mean(register, grammar.registers)}"
        )
    generator = _Generator(grammar, register, random.Random(f"{register}/{seed}"))
    for number in itertools.count():
        document = f"toy-{register}-{seed}-{number:06d}"
        for position in range(grammar.sentences_per_document):
            yield generator.sentence(document, position)


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

    def sentence(self, document: str, position: int) -> ToySentence:
        """Draw one sentence."""
        self.used.clear()
        construction = self._draw(self.grammar.registers[self.register])
        phrase = self._apply(*self._choose(construction, ()), construction)
        if phrase.gaps:
            raise PoshgridError(f"toy grammar: {construction}: a gap that no filler: fills")
        tokens = _tokens(phrase.nodes)
        text = "".join(t.form + (" " if t.space_after else "") for t in tokens).strip()
        return ToySentence(document, position, construction, text, tokens)

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
        rules, weights = self.matches[key]
        rule = self.rng.choices(rules, weights)[0]
        return rule, {h: f for h, f in zip(rule.heading, features, strict=True) if h[0] == "$"}

    def _apply(self, rule: Rule, bound: dict[str, str], where: str) -> _Phrase:
        """Build a phrase by a rule."""
        built: list[tuple[Part, _Phrase]] = []
        for part in rule.parts:
            if part.relation == "gap":
                continue
            features = tuple(self._value(f, bound) for f in part.features)
            built.append((part, self._expand(part.symbol, features)))
        head = next(phrase.head for part, phrase in built if part.relation == "head")
        gaps = [gap for _, phrase in built for gap in phrase.gaps]
        gaps += [(head, part.symbol) for part in rule.parts if part.relation == "gap"]
        for part, phrase in built:
            if part.relation == "filler":
                if len(gaps) != 1:
                    raise PoshgridError(f"toy grammar: {where}: filler: needs one gap: below it")
                phrase.head.head, phrase.head.relation = gaps.pop()
            elif part.relation != "head":
                phrase.head.head, phrase.head.relation = head, part.relation
        return _Phrase([node for _, phrase in built for node in phrase.nodes], head, gaps)

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


def _tokens(nodes: list[_Node]) -> list[ToyToken]:
    """Number the nodes, capitalise the first, write ``an`` before vowels, glue clitics on."""
    numbers = {id(node): number for number, node in enumerate(nodes, start=1)}
    tokens = []
    for node, after in itertools.zip_longest(nodes, nodes[1:]):
        form = node.word.form
        if node.word.lemma == "a" and after is not None and after.word.form[0] in _VOWELS:
            form = "an"
        if node is nodes[0]:
            form = form[0].upper() + form[1:]
        tokens.append(
            ToyToken(
                form=form,
                lemma=node.word.lemma,
                upos=node.word.upos,
                xpos=node.word.xpos,
                feats=node.word.feats,
                head=numbers[id(node.head)] if node.head is not None else 0,
                deprel=node.relation,
                space_after=after is not None and not after.word.glued,
            )
        )
    return tokens
