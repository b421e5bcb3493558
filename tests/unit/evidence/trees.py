"""Writing hand-labelled trees in one line, and random ones."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid.core.files import write_table
from poshgrid.corpora import toy
from poshgrid.parsing import treebank
from poshgrid.parsing.schema import PARSES
from poshgrid.parsing.tree import Tree
from tests import cases


def tree(text: str) -> Tree:
    """Read ``form/UPOS/head/relation`` (and ``/feats``) for each word, words divided by spaces."""
    words = [word.split("/") for word in text.split()]
    assert all(len(word) in (4, 5) for word in words), text
    heads = [int(word[2]) for word in words]
    assert heads.count(0) == 1 and max(heads) <= len(words), text
    return Tree(
        form=[word[0] for word in words],
        upos=[word[1] for word in words],
        feats=[word[4] if len(word) == 5 else "_" for word in words],
        head=heads,
        deprel=[word[3] for word in words],
    )


def toy_tree(sentence: toy.ToySentence) -> Tree:
    """Return the tree of a sentence that the toy grammar drew."""
    return treebank.tree(sentence.words)


def write_parses(path: Path, trees: Sequence[Tree], ids: Iterable[int] | None = None) -> Path:
    """Write a shard of parses; ids: of its sentences, if they are not 0, 1, 2 ..."""
    labels = {name: [list(getattr(tree, name)) for tree in trees] for name in PARSES
              if name != "sent_id"}  # fmt: skip
    sent_id = list(range(len(trees)) if ids is None else ids)
    write_table(pl.DataFrame({"sent_id": sent_id} | labels, schema=PARSES), path, PARSES)
    return path


def read_cases(name: str) -> Any:
    """Return the content of ``cases/{name}.yaml``, its lists as tuples."""

    def tuples(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: tuples(inner) for key, inner in value.items()}
        return tuple(map(tuples, value)) if isinstance(value, list) else value

    return tuples(cases.read_cases(__file__, name))


FORMS = tuple(
    """who what is was did the boy girl boys she he you it themselves herself himself yourself
    myself ? . here and to that mommy 's""".split()  # noqa: SIM905 - shorter than a list
)
RELATIONS = tuple(
    """nsubj nsubj:pass aux aux:pass cop acl:relcl acl obj iobj obl nmod nmod:poss conj advcl
    ccomp xcomp parataxis vocative discourse mark case det punct expl csubj appos
    obl:npmod""".split()  # noqa: SIM905 - shorter than a list
)
TAGS = ("NOUN", "PROPN", "PRON", "VERB", "AUX", "ADP")


FEATS = ("_", "Number=Sing", "Number=Plur|Case=Nom")


def random_tree(generator: random.Random) -> Tree:
    """Return a well-formed tree of these words and labels, which need not make sense."""
    length = generator.randint(1, 14)
    order = list(range(1, length + 1))
    generator.shuffle(order)
    head = [0] * length
    for position in range(1, length):
        head[order[position] - 1] = order[generator.randrange(position)]
    return Tree(
        form=generator.choices(FORMS, k=length),
        upos=generator.choices(TAGS, k=length),
        feats=generator.choices(FEATS, k=length),
        head=head,
        deprel=["root" if not h else generator.choice(RELATIONS) for h in head],
    )


def mutated(sentence: Tree, generator: random.Random) -> Tree:
    """Return a tree with the word, tag or relation of up to two places changed."""
    form, upos, deprel = list(sentence.form), list(sentence.upos), list(sentence.deprel)
    for _ in range(generator.randint(0, 2)):
        column, values = generator.choice(((form, FORMS), (upos, TAGS), (deprel, RELATIONS)))
        column[generator.randrange(len(sentence))] = generator.choice(values)
    return Tree(form, upos, sentence.feats, sentence.head, deprel)
