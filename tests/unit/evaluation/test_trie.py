"""The trie: every sentence can be read back from it, and nothing is there twice."""

from hypothesis import given
from hypothesis import strategies as st

from poshgrid.evaluation.trie import batches, build

SENTENCES = st.lists(st.lists(st.integers(0, 3), min_size=2, max_size=7), max_size=30)


def ancestors(row, node):
    return [j for j in range(node + 1) if j <= node < row.end[j]]


def read_back(trie, edges):
    """Return the sentence that a list of edges stands for, from nothing but the rows."""
    last = max((row for row in trie.rows if row.first <= edges[-1]), key=lambda row: row.first)
    context = last.contexts[edges[-1] - last.first]
    path = ancestors(last, context)
    assert [last.depth[j] for j in path] == list(range(len(path)))
    return [*(last.ids[j] for j in path), last.targets[edges[-1] - last.first]]


@given(SENTENCES, st.integers(1, 20), st.booleans())
def test_every_edge_leads_from_the_path_that_its_sentence_has_taken(sentences, nodes, share):
    trie = build(sentences, nodes, share=share)
    for sentence, edges in zip(sentences, trie.edges, strict=True):
        assert len(edges) == len(sentence) - 1
        for k in range(len(edges)):
            assert read_back(trie, edges[: k + 1].tolist()) == sentence[: k + 2]


@given(SENTENCES, st.integers(1, 20))
def test_rows_keep_their_bound_and_prefixes_are_edges_once(sentences, nodes):
    trie = build(sentences, nodes)
    longest = max((len(s) - 1 for s in sentences), default=0)
    assert all(0 < len(row.ids) <= max(nodes, longest) for row in trie.rows)
    assert trie.size == sum(len(row.targets) for row in trie.rows)
    assert trie.size == len({tuple(s[:k]) for s in sentences for k in range(2, len(s) + 1)})


@given(SENTENCES)
def test_without_sharing_each_distinct_sentence_has_its_row(sentences):
    trie = build(sentences, 10_000, share=False)
    assert sorted([*row.ids, row.targets[-1]] for row in trie.rows) == sorted(
        map(list, {tuple(s) for s in sentences})
    )
    assert all(row.end == [len(row.ids)] * len(row.ids) for row in trie.rows)


@given(st.lists(st.integers(1, 30), max_size=60), st.integers(1, 200))
def test_batches_are_a_partition_within_the_bound(lengths, bound):
    made = batches(lengths, bound)
    assert sorted(i for batch in made for i in batch) == list(range(len(lengths)))
    for batch in made:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= bound
    longest = [max(lengths[i] for i in batch) for batch in made]
    assert longest == sorted(longest, reverse=True)
    assert all(lengths[batch[0]] == max(lengths[i] for i in batch) for batch in made)
