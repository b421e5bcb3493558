"""Matched re-insertion: same source, words of each source kept, shortages named."""

from __future__ import annotations

import itertools
import random
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from poshgrid.core.database import opened
from poshgrid.core.errors import PoshgridError
from poshgrid.evidence.matching import match


def frame(rows):
    """Make a table of (sent_id, source, n_words)."""
    schema = {"sent_id": pl.UInt32, "source": pl.String, "n_words": pl.UInt32}
    return pl.DataFrame(rows, schema=schema, orient="row")


def run(pool, number, sentences, words, tolerance=0.001):
    """Return who gives way -> evidence, and what is gained: source -> share of its words."""
    generator = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as database:
        database.load("pool", [frame(pool).with_row_index("nth")])
        database.load("sentences", [frame(sentences)])
        gained = match(database, "from pool", number, "from sentences", words, tolerance, generator)
        return dict(database.rows("select place, sent_id from places")), gained


@pytest.mark.parametrize("seed", range(5))
def test_words_of_each_source_stay_and_every_place_is_used_once(seed):
    rng = random.Random(seed)
    sentences = [(i, rng.choice("abc"), rng.randint(1, 25)) for i in range(3_000)]
    pool = [(5_000 + i, rng.choice("abc"), rng.randint(5, 40)) for i in range(60)]
    words = {s: sum(n for _, source, n in sentences if source == s) for s in "abc"}
    places, shares = run(pool, 40, sentences, words)
    of = {i: (source, n) for i, source, n in [*sentences, *pool]}
    assert len(places) == 40 == len(set(places.values()))
    assert set(places) <= {i for i, _, _ in sentences}
    assert set(places.values()) <= {i for i, _, _ in pool}
    gained = dict.fromkeys("abc", 0)
    for replaced, evidence in places.items():
        assert of[replaced][0] == of[evidence][0]
        gained[of[replaced][0]] += of[evidence][1] - of[replaced][1]
    for source, change in gained.items():
        assert abs(change) <= 0.001 * words[source]
        assert shares[source] == pytest.approx(change / words[source], abs=1e-8)


@pytest.mark.parametrize("seed", range(15))
def test_within_five_percent_of_trying_everything(seed):
    """Eight places, five sentences of evidence: all exchanges can be listed."""
    rng = random.Random(seed)
    lengths = [rng.randint(1, 9) for _ in range(8)]
    evidence = [rng.randint(1, 12) for _ in range(5)]
    wanted = Counter(evidence[:3])

    def cost(places, chosen):
        """Weigh an exchange as the program does; None: it changes the words too much."""
        come, go = [evidence[e] for e in chosen], [lengths[p] for p in places]
        if abs(sum(come) - sum(go)) > 3:  # 5% of 60 words
            return None
        missing = (wanted - Counter(come)).total()
        return 20 * missing + sum(abs(a - b) for a, b in zip(come, go, strict=True))

    costs = [
        c
        for chosen in itertools.combinations(range(5), 3)
        for places in itertools.permutations(range(8), 3)
        if (c := cost(places, chosen)) is not None
    ]
    sentences, pool = ([(i, "a", n) for i, n in enumerate(some)] for some in (lengths, evidence))
    if not costs:
        with pytest.raises(PoshgridError):
            run(pool, 3, sentences, {"a": 60}, 0.05)
        return
    places, _ = run(pool, 3, sentences, {"a": 60}, 0.05)
    assert cost(list(places), list(places.values())) <= 1.05 * min(costs)


@pytest.mark.parametrize(
    ("number", "sentences", "words", "message"),
    [
        (5, [(i, "a", 5) for i in range(200)], 1_000, "evidence is longer than the sentences"),
        (5, [(0, "a", 30), (1, "a", 30), (2, "b", 30)], 60, "too few sentences of 'a'"),
    ],
)
def test_shortages_are_named(number, sentences, words, message):
    pool = [(100 + i, "a", 30) for i in range(5)]
    with pytest.raises(PoshgridError, match=message):
        run(pool, number, sentences, {"a": words, "b": 30})
