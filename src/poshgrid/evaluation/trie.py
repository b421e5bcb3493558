"""Sentences as a trie of tokens, so that common beginnings of sentences are computed once.

Sorted sentences are a trie in depth-first order. Its nodes are packed into rows of limited length;
in a row, node j is an ancestor of node i (or i itself) if and only if ``j <= i < end[j]``: so
``end`` gives the nodes that a node may attend to. An edge leads from a node, the context, to the
next token; its log-probability is computed once for all sentences with this edge. When a row is
full, a new row begins with the whole path to the next sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os.path import commonprefix

import numpy as np


@dataclass
class Row:
    """Nodes that are one row in a batch.

    Args:
        first: number of the row's first edge; the numbers of the others follow.
        ids: token of each node.
        depth: position of each node in its sentences, from 0.
        end: node i's descendants are the nodes ``i + 1 ... end[i] - 1``.
        contexts: node of each edge.
        targets: token that each edge leads to.
    """

    first: int
    ids: list[int] = field(default_factory=list)
    depth: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    contexts: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Trie:
    """Rows, and the path of each sentence through them.

    Args:
        rows: all nodes.
        edges: for each sentence, the numbers of its edges in order: one for each token except the
            first.
        size: number of all edges.
    """

    rows: list[Row]
    edges: list[np.ndarray]
    size: int


def build(sentences: Sequence[list[int]], nodes: int, *, share: bool = True) -> Trie:
    """Pack sentences into rows.

    Args:
        sentences: token ids, at least two in each.
        nodes: largest number of nodes in a row; a longer sentence gets a row of its own.
        share: whether sentences share their beginnings; if not, each distinct sentence has its own
            row.
    """
    order = sorted(range(len(sentences)), key=lambda i: sentences[i])
    way: np.ndarray = np.empty(0, np.int64)  # edges of the previous sentence
    edges = [way] * len(sentences)
    rows: list[Row] = []
    row, path = Row(0), list[int]()  # path: nodes of the previous sentence, from the root
    before: list[int] = []
    size = 0
    for i in order:
        sentence = sentences[i]
        if sentence == before:
            edges[i] = way
            continue
        common = len(commonprefix([before, sentence])) if share else 0  # noqa: RUF071 - no paths
        kept = min(common, len(path))
        if not share or len(row.ids) + len(sentence) - 1 - kept > nodes:
            if row.ids:
                _close(row, path, 0)
                rows.append(row)
            row, path, kept = Row(size), [], 0
        _close(row, path, kept)
        for depth in range(kept, len(sentence) - 1):
            path.append(len(row.ids))
            row.ids.append(sentence[depth])
            row.depth.append(depth)
            row.end.append(0)
        old = max(common - 1, 0)  # edges that the previous sentence has, too
        new = len(sentence) - 1 - old
        row.contexts += path[old:]
        row.targets += sentence[old + 1 :]
        way = np.concatenate((way[:old], np.arange(size, size + new)))
        size += new
        edges[i], before = way, sentence
    if row.ids:
        _close(row, path, 0)
        rows.append(row)
    return Trie(rows, edges, size)


def _close(row: Row, path: list[int], kept: int) -> None:
    """End the nodes after the first ``kept`` of a path: they get no more descendants."""
    for node in path[kept:]:
        row.end[node] = len(row.ids)
    del path[kept:]


def batches(lengths: Sequence[int], batch_tokens: int) -> list[list[int]]:
    """Return batches of indices, sorted by length, the longest row first.

    Args:
        lengths: tokens of each row.
        batch_tokens: largest number of tokens in a batch, padding included; a longer row gets a
            batch of its own.
    """
    made: list[list[int]] = []
    longest = 0  # of the last batch
    for i in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        if made and (len(made[-1]) + 1) * longest <= batch_tokens:
            made[-1].append(i)
        else:
            made.append([i])
            longest = lengths[i]
    return made
