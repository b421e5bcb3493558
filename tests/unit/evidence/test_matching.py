"""Matched re-insertion: same source, words of each source kept, shortages named."""

from __future__ import annotations

import itertools
import random
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

from poshgrid.database import opened
from poshgrid.errors import PoshgridError
from poshgrid.evidence.matching import match


def frame(rows):
    """Make a table of (sent_id, source, n_words)."""
    schema = {"sent_id": pl.UInt32, "source": pl.String, "n_words": pl.UInt32}
    return pl.DataFrame(rows, schema=schema, orient="row")


class Matched(NamedTuple):
    """Who gives way -> evidence, and what is gained: source -> share of its words."""

    places: dict[int, int]
    words_difference: dict[str, float]


def run(pool, number, sentences, words, tolerance=0.001, seed=1):
    generator = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as database:
        database.load("pool", [frame(pool).with_row_index("nth")])
        database.load("sentences", [frame(sentences)])
        gained = match(database, "from pool", number, "from sentences", words, tolerance, generator)
        return Matched(dict(database.rows("select place, sent_id from places")), gained)


@pytest.mark.parametrize("seed", range(5))
def test_words_of_each_source_stay_and_every_place_is_used_once(seed):
    rng = random.Random(seed)
    sentences = [(i, rng.choice("abc"), rng.randint(1, 25)) for i in range(3_000)]
    pool = [(5_000 + i, rng.choice("abc"), rng.randint(5, 40)) for i in range(60)]
    words = {s: sum(n for _, source, n in sentences if source == s) for s in "abc"}
    found = run(pool, 40, sentences, words)
    of = {i: (source, n) for i, source, n in [*sentences, *pool]}
    assert len(found.places) == 40 == len(set(found.places.values()))
    assert set(found.places) <= {i for i, _, _ in sentences}
    assert set(found.places.values()) <= {i for i, _, _ in pool}
    gained = dict.fromkeys("abc", 0)
    for place, evidence in found.places.items():
        assert of[place][0] == of[evidence][0]
        gained[of[place][0]] += of[evidence][1] - of[place][1]
    for source, change in gained.items():
        assert abs(change) <= 0.001 * words[source]
        assert found.words_difference[source] == pytest.approx(change / words[source], abs=1e-8)


def test_first_of_the_pool_and_equal_lengths_where_it_can_be():
    sentences = [(i, "a", 5 + i % 10) for i in range(100)]
    pool = [(200 + i, "a", 5 + i) for i in range(10)]
    found = run(pool, 4, sentences, {"a": 1_000})
    assert sorted(found.places.values()) == [200, 201, 202, 203]
    lengths = {i: n for i, _, n in sentences}
    assert sorted(lengths[place] for place in found.places) == [5, 6, 7, 8]
    assert found.words_difference == {"a": 0.0}


def test_within_five_percent_of_trying_everything():
    """Eight places, five sentences of evidence: all exchanges can be listed."""
    rng = random.Random(4)
    for _ in range(15):
        sentences = [(i, "a", rng.randint(1, 9)) for i in range(8)]
        pool = [(20 + i, "a", rng.randint(1, 12)) for i in range(5)]
        tolerance = 0.05
        words = {"a": 60}

        def cost(places, chosen, pool=pool, sentences=sentences):
            change = sum(pool[e][2] for e in chosen) - sum(sentences[p][2] for p in places)
            if abs(change) > 3:
                return None
            wanted = sorted(n for _, _, n in pool[:3])
            got = sorted(pool[e][2] for e in chosen)
            missing = len(wanted) - sum(min(wanted.count(n), got.count(n)) for n in set(wanted))
            return 20 * missing + sum(
                abs(pool[e][2] - sentences[p][2]) for e, p in zip(chosen, places, strict=True)
            )

        costs = [
            c
            for chosen in itertools.combinations(range(5), 3)
            for places in itertools.permutations(range(8), 3)
            if (c := cost(places, chosen)) is not None
        ]
        try:
            found = run(pool, 3, sentences, words, tolerance)
        except PoshgridError:
            assert not costs
            continue
        chosen = [e - 20 for e in found.places.values()]
        assert cost(list(found.places), chosen) <= 1.05 * min(costs)


def test_shortages_are_named():
    pool = [(100 + i, "a", 30) for i in range(5)]
    with pytest.raises(PoshgridError, match=r"6 sentences of evidence are asked for, 5 there are"):
        run(pool, 6, [(i, "a", 30) for i in range(50)], {"a": 1_500})
    with pytest.raises(PoshgridError, match=r"source 'a' would gain at least 125 of 1,000 words"):
        run(pool, 5, [(i, "a", 5) for i in range(200)], {"a": 1_000})
    with pytest.raises(PoshgridError, match=r"source 'a' has 2 sentences that can give way to 5"):
        run(pool, 5, [(0, "a", 30), (1, "a", 30), (2, "b", 30)], {"a": 60, "b": 30})


def test_other_evidence_is_taken_where_the_first_does_not_fit():
    pool = [(100, "a", 50), (101, "a", 6), (102, "a", 6)]
    found = run(pool, 2, [(i, "a", 6) for i in range(40)], {"a": 240})
    assert sorted(found.places.values()) == [101, 102]


def test_seeds():
    sentences = [(i, "a", 6) for i in range(500)]
    pool = [(600 + i, "a", 6) for i in range(20)]
    one, same, other = (run(pool, 10, sentences, {"a": 3_000}, seed=s) for s in (1, 1, 2))
    assert one == same
    assert set(one.places) != set(other.places)
