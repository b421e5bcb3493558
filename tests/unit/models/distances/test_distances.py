"""Distances in the trees of training sentences: by hand, and against a search through the graph."""

import random

import numpy as np
import polars as pl
import pytest
from scipy.sparse.csgraph import shortest_path

from poshgrid import config
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import read_json, write_table
from poshgrid.evidence.schema import CONDITION
from poshgrid.models.distances.folder import WORDS, Distances
from poshgrid.models.distances.make import between, make
from poshgrid.models.tokenization import encode
from poshgrid.models.tokenization import tokenizer as tokenizers
from poshgrid.parsing.tree import Tree
from tests.cases import read_cases
from tests.unit.evidence.trees import write_parses as written
from tests.unit.models.training.training_support import write_condition

CASES = read_cases(__file__, "sentences")
KNOWN = [
    "she gonna bark dogs cats saw the",
    "s . do n't she gonna bark dogs cats saw the",
    "s .",
    ".",
]


def write_tokenizer(folder, lowercase=False, known=KNOWN):
    """A tokenizer whose types are the known words; other words fall into pieces."""
    made = tokenizers.learn(config.Tokenizer(lowercase=lowercase), 2_000, [known * 9])
    folder.mkdir(parents=True, exist_ok=True)
    made.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text("{}")
    return folder


def write_parses(path, trees, ids=None):
    """A shard; trees: (words, heads)."""
    made = []
    for words, heads in trees:
        tags, features, relations = ([label] * len(words) for label in ("X", "_", "dep"))
        made.append(Tree(words, tags, features, heads, relations))
    return written(path, made, ids)


def prepare(folder, texts, trees, **settings):
    """Inputs of ``make``: condition, tokenizer, tokens, parses, output."""
    source = write_condition(folder / "condition", train=texts, dev=["she ."], test=["she ."])
    cutter = write_tokenizer(folder / "tokenizer", **settings)
    encode.encode(source, cutter, folder / "tokens")
    shard = write_parses(folder / "parses" / "0.parquet", trees)
    return source, cutter, folder / "tokens", [shard], folder / "distances"


def made(inputs):
    make(*inputs)
    return Distances(inputs[-1])


def statistics(inputs):
    return read_json(inputs[-1] / "statistics.json")


def triangle(distances, sentence, length=64):
    """The packed rows of a sentence, as lists."""
    rows = distances.padded(np.array([sentence]), length).distance[0]
    return [[int(d) for d in row if np.isfinite(d)] for row in rows if np.isfinite(row).any()]


def begins(inputs):
    return np.fromfile(inputs[-1] / WORDS, np.uint8).tolist()


# ---- by hand ----------------------------------------------------------------------------------


def test_padded_rows_stand_where_the_word_is_predicted(tmp_path):
    """The row of *barks* stands at *gonna*; *s* begins no word; the tail is cut off."""
    tree = (["she", "gon", "na", "barks", "."], [4, 3, 4, 0, 4])
    short = (["dogs", "."], [0, 1])
    distances = made(prepare(tmp_path, ["she gonna barks .", "dogs ."], [tree, short]))
    padded = distances.padded(np.array([1, 0]), 6)
    assert padded.word.tolist()[1] == [0, 1, 2, 3, 3, 4]
    assert padded.word.tolist()[0][:3] == [0, 1, 2]
    assert padded.predictions.tolist() == [3, 6]
    inf = np.inf
    assert padded.distance[1].tolist() == [
        [2, inf, inf, inf, inf],
        [3, 3, inf, inf, inf],
        [1, 1, 2, inf, inf],
        [inf] * 5,
        [2, 2, 3, 1, inf],
        [2, 2, 3, 1, 2],
    ]
    assert padded.distance[0].tolist()[:3] == [
        [1, inf, inf, inf, inf],
        [2, 1, inf, inf, inf],
        [2, 1, 2, inf, inf],
    ]
    assert np.isinf(padded.distance[0][3:]).all()
    cut = distances.padded(np.array([0]), 4)
    assert np.array_equal(cut.distance[0][:3, :3], padded.distance[1][:3, :3])
    assert np.isinf(cut.distance[0][3]).all()  # the next token, s, begins none


def graph(heads):
    """Distances by Dijkstra's search, boundaries first and last."""
    size = len(heads) + 2
    arcs = np.zeros((size, size))
    for word, head in enumerate(heads, start=1):
        if head:
            arcs[word, head] = 1
        else:
            arcs[word, 0] = arcs[word, size - 1] = 1
    return shortest_path(arcs, directed=False)


def a_tree(draw, words):
    """Heads of a random tree."""
    order = draw.sample(range(1, words + 1), words)
    heads = [0] * words
    for position, word in enumerate(order[1:], start=1):
        heads[word - 1] = draw.choice(order[:position])
    return heads


@pytest.mark.parametrize("words", [1, 2, 3, 8, 25])
def test_distances_are_those_of_a_search_through_the_graph(words):
    draw = random.Random(words)
    for heads in (a_tree(draw, words) for _ in range(40)):
        assert np.array_equal(between(heads), graph(heads))


def test_far_words_are_255_away():
    distances = between([*range(300)])  # each word hangs off the one before
    assert (distances[300, 60], distances[300, 20], distances.max()) == (240, 255, 255)


# ---- words and tokens -------------------------------------------------------------------------


def test_random_sentences_agree_with_a_slow_reader(tmp_path):
    """Every row of every sentence, by words found one by one, and graphs searched."""
    draw = random.Random(3)
    pieces = [["she"], ["gon", "na"], ["barks"], ["do", "n't"], ["zebra"], ["."], ["dogs", "'"]]
    texts, trees = [], []
    for _ in range(60):
        chosen = draw.choices(pieces, k=draw.randint(2, 9))
        texts.append("".join("".join(p) + draw.choice([" ", "  "]) for p in chosen).strip())
        words = [word for piece in chosen for word in piece]
        trees.append((words, a_tree(draw, len(words))))
    inputs = prepare(tmp_path, texts, trees)
    distances, cutter = made(inputs), tokenizers.load(inputs[1])
    assert statistics(inputs)["used"] == 60
    for number, (text, (words, heads)) in enumerate(zip(texts, trees, strict=True)):
        owner = []  # of each character: its word; of white space: the word after it
        at = 0
        for position, word in enumerate(words, start=1):
            end = text.index(word, at) + len(word)
            owner += [position] * (end - len(owner))
            at = end
        seen = []
        for begin, end in cutter.encode(text, add_special_tokens=False).offsets:
            solid = next((i for i in range(begin, end) if not text[i].isspace()), begin)
            if owner[solid] not in seen:
                seen.append(owner[solid])
        kept, whole = [0, *seen, len(words) + 1], graph(heads)
        rows = [[whole[i, j] for j in kept[:k]] for k, i in enumerate(kept)][1:]
        assert triangle(distances, number) == rows


@pytest.mark.parametrize(("text", "words", "wanted"), CASES["lengths that change"])
def test_a_normaliser_that_changes_lengths_does_not_move_words(tmp_path, text, words, wanted):
    """All words but the last are as deep as they are far from the end: a chain to the right."""
    heads = [*range(2, len(words) + 1), 0]
    inputs = prepare(tmp_path, [text], [(words, heads)], lowercase=True)
    distances = made(inputs)
    assert statistics(inputs)["used"] == 1
    rows = triangle(distances, 0)
    assert [row[0] for row in rows] == [*range(wanted, 0, -1), 2]
    starts = np.flatnonzero(begins(inputs))
    assert len(starts) == wanted + 2
    # Each word begins with the token that spells its beginning.
    cutter, ids = tokenizers.load(inputs[1]), encode.load(inputs[2], "train").ids
    for word, start, end in zip(words, starts[1:], starts[2:], strict=False):
        spelled = cutter.decode(ids[start:end].tolist()).strip()
        assert spelled == cutter.normalizer.normalize_str(word)


# ---- what cannot be used ----------------------------------------------------------------------


def test_what_cannot_be_used_is_counted(tmp_path):
    sentences, *parses = zip(*CASES["unused"], strict=True)
    inputs = prepare(tmp_path, sentences, list(zip(*parses, strict=True)))
    distances = made(inputs)
    unused = {
        "no_parse": 1, "unmatched_words": 1, "several_roots": 1, "broken_heads": 2, "too_short": 1
    }  # fmt: skip
    counts = statistics(inputs)
    assert len(counts.pop("tokens")) == 64
    assert counts == {"sentences": 7, "used": 1, "unused": unused}
    assert [triangle(distances, sentence) for sentence in range(1, 7)] == [[]] * 6
    # Only boundaries begin words there.
    assert sum(begins(inputs)) == 1 + 7 + 2
    assert triangle(distances, 0) == [[2], [1, 1], [2, 2, 1]]


def test_no_usable_tree_at_all_is_an_error_and_leaves_nothing(tmp_path):
    inputs = prepare(tmp_path, ["she saw"], [([], [])])
    with pytest.raises(PoshgridError, match=r"no sentence has a usable tree \(1 no_parse\)"):
        make(*inputs)
    assert not inputs[-1].exists()


# ---- which tree belongs to which sentence -----------------------------------------------------


def rewrite(condition, **columns):
    path = condition / "train.parquet"
    frame = pl.read_parquet(path).with_columns(
        pl.Series(name, values, CONDITION[name]) for name, values in columns.items()
    )
    write_table(frame, path, CONDITION)


@pytest.mark.parametrize("batch", [2, 100])
def test_evidence_that_was_put_back_has_its_own_tree(tmp_path, monkeypatch, batch):
    """A condition of sentences 2, 9 (in the place of 4), 5, 1 (of 6), 1 (of 7), 8 of a corpus."""
    monkeypatch.setattr("poshgrid.models.distances.make.BATCH", batch)
    draw, words = random.Random(1), ["she", "saw", "the", "dogs", "bark"]
    corpus = {n: " ".join(draw.choices(words, k=2 + n % 4)) for n in range(12)}
    trees = {n: (text.split(), a_tree(draw, len(text.split()))) for n, text in corpus.items()}
    chosen, replaced = [2, 9, 5, 1, 1, 8], [None, 4, None, 6, 7, None]
    inputs = prepare(tmp_path, [corpus[n] for n in chosen], [])
    rewrite(inputs[0], sent_id=chosen, replaced=replaced)
    # By name, the shard of the later sentences comes first.
    shards = [
        write_parses(tmp_path / "parses" / name, [trees[n] for n in ids], list(ids))
        for name, ids in [("10.parquet", range(7, 12)), ("2.parquet", range(7))]
    ]
    distances = made(
        (*inputs[:3], [*shards, write_parses(tmp_path / "p" / "e.parquet", [])], inputs[4])
    )
    assert statistics(inputs)["used"] == 6
    for position, n in enumerate(chosen):
        whole = graph(trees[n][1])
        assert triangle(distances, position) == [list(whole[i, :i]) for i in range(1, len(whole))]


def test_tokens_of_other_sentences_are_refused(tmp_path):
    tree = (["she", "saw"], [2, 0])
    first = prepare(tmp_path / "a", ["she saw", "dogs bark"], [tree] * 2)
    other = prepare(tmp_path / "b", ["she bark", "dogs bark"], [tree] * 2)
    fewer = prepare(tmp_path / "c", ["she saw"], [tree])
    more = prepare(tmp_path / "d", ["she saw"] * 3, [tree] * 3)
    for tokens in (other[2], fewer[2], more[2]):
        with pytest.raises(PoshgridError, match="not the tokens of this condition"):
            make(*first[:2], tokens, *first[3:])
