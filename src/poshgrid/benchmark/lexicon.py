"""The hand-made lexicon: word forms and their features, and which are frequent in a corpus."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml
from pydantic import BaseModel, TypeAdapter

from poshgrid.benchmark.reading import tablefile
from poshgrid.core import resources

LEXICON = resources.ROOT / "lexicon"
_LETTERS = re.compile(r"[^\W\d_]+")


class Table(BaseModel):
    """The columns of a lexicon file: forms, then features (``tables.yaml``)."""

    file: str
    forms: tuple[str, ...]  # the first is the citation form
    features: dict[str, frozenset[str]]  # column -> its possible values
    content: bool = True  # content words; function words otherwise


TABLES = TypeAdapter(dict[str, Table]).validate_python(
    yaml.safe_load((LEXICON / "tables.yaml").read_text(encoding="utf-8"))
)
"""Category of words -> its table."""


@dataclass(frozen=True)
class Word:
    """One entry of the lexicon."""

    category: str  # noun, name, verb, adjective, determiner, auxiliary, function
    lemma: str  # the citation form
    forms: Mapping[str, str]  # name of the form -> the form
    features: Mapping[str, frozenset[str]]

    @cached_property
    def folded(self) -> frozenset[str]:
        """The forms, case-folded."""
        return frozenset(form.casefold() for form in self.forms.values())


class Lexicon:
    """All entries, by category and by form."""

    def __init__(self, words: Iterable[Word]) -> None:
        self.words = tuple(words)

    def of(self, category: str) -> tuple[Word, ...]:
        """Return the entries of a category, in the order of the file."""
        return tuple(word for word in self.words if word.category == category)

    @cached_property
    def function_forms(self) -> frozenset[str]:
        """Forms of determiners, auxiliaries and function words, case-folded."""
        return frozenset(f for w in self.words if not TABLES[w.category].content for f in w.folded)

    @cached_property
    def auxiliary_forms(self) -> frozenset[str]:
        """Forms of auxiliaries, case-folded."""
        return frozenset(form for word in self.of("auxiliary") for form in word.folded)

    @cached_property
    def content_lemmas(self) -> dict[str, frozenset[str]]:
        """Case-folded form -> citation forms of its content words.

        A form that is also a function word is left out.
        """
        lemmas: dict[str, set[str]] = {}
        for word in self.words:
            if TABLES[word.category].content:
                for form in word.folded:
                    lemmas.setdefault(form, set()).add(word.lemma)
        return {f: frozenset(ls) for f, ls in lemmas.items() if f not in self.function_forms}


def read(folder: Path = LEXICON) -> Lexicon:
    """Read and check the lexicon.

    Raises:
        PoshgridError: a line has a wrong number of cells, an empty or impossible form, or an
            unknown feature value.
    """
    words = []
    for category, table in TABLES.items():
        for row in tablefile.rows(folder / table.file):
            forms = {name: row.cells[name] for name in table.forms}
            if wrong := [form for form in forms.values() if not _LETTERS.fullmatch(form)]:
                raise row.fault(f"{wrong[0]!r} is not a word form; use letters only")
            features = {n: frozenset(row.cells[n].split()) - {"-"} for n in table.features}
            for name, values in features.items():
                if unknown := values - table.features[name]:
                    raise row.fault(f"unknown {name} {min(unknown)!r}")
            words.append(Word(category, forms[table.forms[0]], forms, features))
    return Lexicon(words)


# ---- frequency ------------------------------------------------------------------------------


def tokens(text: str) -> list[str]:
    """Return the lower-cased alphabetic tokens; apostrophes separate: *don't* -> *don*, *t*."""
    return _LETTERS.findall(text.lower())


def most_frequent(counts: Mapping[str, int], top_k: int) -> frozenset[str]:
    """Return the ``top_k`` most frequent types; equal counts in alphabetical order."""
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return frozenset(word for word, _ in ranked[:top_k])


@dataclass(frozen=True)
class Vocabulary:
    """The words that items may use: those frequent in every corpus (paper, section 3.2)."""

    top_k: int
    frequent: Mapping[str, frozenset[str]]  # corpus -> its most frequent types

    def lacking(self, form: str) -> list[str]:
        """Return the corpora that do not have a form among their most frequent types."""
        return [
            corpus for corpus in sorted(self.frequent) if form.lower() not in self.frequent[corpus]
        ]


def usable(counts: Mapping[str, Mapping[str, int]], top_k: int) -> Vocabulary:
    """Return which types are frequent in each corpus.

    Args:
        counts: corpus -> type (case-folded) -> number of tokens.
        top_k: how many of a corpus's types count as frequent.
    """
    frequent = {corpus: most_frequent(of, top_k) for corpus, of in sorted(counts.items())}
    return Vocabulary(top_k, frequent)
