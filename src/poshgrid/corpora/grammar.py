"""The notation of ``resources/toy/grammar.yaml``: reading, checking, the words of the lexicon."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from poshgrid.config import yamltext
from poshgrid.errors import PoshgridError, reason

_SYMBOL = re.compile(r"([A-Z][A-Z0-9_]+)(?:\(([^()]*)\))?")
_VERB_FORMS = {
    "base": ("VB", "VerbForm=Inf"),
    "sg": ("VBZ", "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin"),
    "pl": ("VBP", "Mood=Ind|Tense=Pres|VerbForm=Fin"),
    "past": ("VBD", "Mood=Ind|Tense=Past|VerbForm=Fin"),
    "part": ("VBN", "Tense=Past|VerbForm=Part"),
    "ger": ("VBG", "VerbForm=Ger"),
}


@dataclass(frozen=True)
class Word:
    """A word of the lexicon with its analysis in Universal Dependencies."""

    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    glued: bool = field(default=False, kw_only=True)  # written on to the word before


@dataclass(frozen=True)
class Part:
    """``relation:SYMBOL(features)`` in a rule; a ``gap`` part names the relation of what lacks."""

    relation: str
    symbol: str
    features: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    """One way to build a symbol; ``heading`` is its features as the grammar file writes them."""

    heading: tuple[str, ...]
    weights: dict[str, float]  # register -> weight; "" for all registers
    parts: tuple[Part, ...]

    def weight(self, register: str) -> float:
        """Return the rule's weight in a register."""
        return self.weights.get(register, self.weights.get("", 0.0))


@dataclass(frozen=True)
class Grammar:
    """The toy language: constructions, rules, words."""

    registers: dict[str, dict[str, float]]  # register -> construction -> sentences per thousand
    sentences_per_document: int
    features: dict[str, dict[str, float]]  # feature -> value -> weight
    constructions: dict[str, list[Rule]]
    rules: dict[str, list[Rule]]
    words: dict[str, Word]
    lexicon: dict[tuple[str, ...], list[Word]]  # e.g. ("VERB", "person", "past") -> words


@functools.cache
def load(folder: Path) -> Grammar:
    """Read ``grammar.yaml`` and ``lexicon.yaml`` of a folder.

    Raises:
        PoshgridError: a file is missing or is not YAML, or a rule lacks its head or weight.
    """
    try:
        given, lexicon = (
            yamltext.parse(yamltext.read(folder / name))
            for name in ("grammar.yaml", "lexicon.yaml")
        )
        glued = set(given["glued"])
        words = {
            key: Word(key.partition("/")[0], *map(str, analysis), glued=key in glued)
            for key, analysis in given["words"].items()
        }
        rules: dict[str, list[Rule]] = {}
        for heading, alternatives in given["rules"].items():
            name, features = _symbol(heading)
            rules.setdefault(name, []).extend(_rule(features, text) for text in alternatives)
        return Grammar(
            registers=given["registers"],
            sentences_per_document=given["sentences_per_document"],
            features=given["features"],
            constructions={
                name: [_rule((), text) for text in alternatives]
                for name, alternatives in given["constructions"].items()
            },
            rules=rules,
            words=words,
            lexicon=_lexicon(lexicon),
        )
    except (yaml.YAMLError, yamltext.UnboundedError, LookupError, TypeError, ValueError) as error:
        raise PoshgridError(
            f"{folder}: grammar.yaml or lexicon.yaml cannot be read ({reason(error)}); "
            "compare with the notation at the head of the file"
        ) from error


def _symbol(text: str) -> tuple[str, tuple[str, ...]]:
    match = _SYMBOL.fullmatch(text)
    if match is None:
        return text, ()
    return match[1], tuple(f.strip() for f in match[2].split(",")) if match[2] else ()


def _rule(heading: tuple[str, ...], text: str) -> Rule:
    weights: dict[str, float] = {}
    fields = text.split()
    while fields and ":" not in fields[0]:
        register, _, weight = fields.pop(0).rpartition("=")
        weights[register] = float(weight)
    parts = []
    for part in fields:
        relation, _, symbol = part.rpartition(":")
        parts.append(Part(relation, *_symbol(symbol)))
    if not weights or [part.relation for part in parts].count("head") != 1:
        raise ValueError(f"{text!r} needs a weight and exactly one head: part")
    return Rule(heading, weights, tuple(parts))


def _lexicon(given: dict[str, Any]) -> dict[tuple[str, ...], list[Word]]:
    lexicon: dict[tuple[str, ...], list[Word]] = {}

    def add(word: Word, *keys: str) -> None:
        lexicon.setdefault(keys, []).append(word)

    def nouns(kind: str, pairs: dict[str, str], gender: str | None = None) -> None:
        for singular, plural in pairs.items():
            one = Word(singular, singular, "NOUN", "NN", "Number=Sing")
            more = Word(plural, singular, "NOUN", "NNS", "Number=Plur")
            for number, word in (("sg", one), ("pl", more)):
                add(word, "NOUN", kind, number)
                if gender:
                    add(word, "PERSON", gender, number)

    for kind, group in given["nouns"].items():
        if kind == "person":
            for gender, pairs in group.items():
                nouns(kind, pairs, gender)
        else:
            nouns(kind, group)
    for gender, names in given["names"].items():
        for name in names:
            add(Word(name, name, "PROPN", "NNP", "Number=Sing"), "NAME", gender)
    for kind in given["nouns"]:
        for adjective in given["adjectives"].get(kind, given["adjectives"]["other"]):
            add(Word(adjective, adjective, "ADJ", "JJ", "Degree=Pos"), "ADJ", kind)
    for base, (third, past, participle, gerund, kinds) in given["verbs"].items():
        forms = (base, third, base, past, participle, gerund)
        for (form, (xpos, feats)), text in zip(_VERB_FORMS.items(), forms, strict=True):
            for kind in kinds.split():
                add(Word(text, base, "VERB", xpos, feats), "VERB", kind, form)
    return lexicon
