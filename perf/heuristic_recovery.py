"""Whether models are named after the heuristic that they follow, and no others after any.

    python perf/heuristic_recovery.py ITEMS [--text FILE --replications 100 --noise .05 .15 --seeds
    3]

ITEMS is an items.parquet, or a folder in the published format (bad line, then good line). What
counts words takes part where a text, a sentence a line, is given to count. In each replication a
model prefers one member of a pair, takes the other with a probability drawn from the range
``--noise``, and tosses a coin where it has no preference; each of its seeds chooses anew. Planted
are

- ``listed``: each heuristic (or group), and a coin;
- ``unlisted``: the earlier in the alphabet, the fewer characters; and, each while it is taken out
  of the list, a class n-gram and the two words at the edit site. Those that fewer than ten lexical
  sets tell from a listed heuristic or from a coin are left out;
- ``two``: each choice follows one of two heuristics, at even odds (a coin's, where the two always
  contradict each other);
- ``seeds``: all but one seed follow a heuristic, the last another one.

The choices pass through the statistics of the stage ``heuristic_shares``. The answer is a table in
Markdown: how many models got the verdict that is right (``own``: of unlisted ones and of two, "no
listed heuristic"), were named after another heuristic, after a hierarchical one among these; and
how many got each of the other verdicts. ``sure``: in how many a heuristic surely explains more than
half of the choices; ``least`` and ``most`` of these: the upper end of what seeds share beyond the
list, in percent. In brackets: share of pairs with a preference. With ``--right`` nothing is
planted, and the table says how often each heuristic is right.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from poshgrid.benchmark.items import generate
from poshgrid.config import Suite, specs
from poshgrid.config.runs import WORD_BASELINES, counting
from poshgrid.evaluation.heuristics import mixture, table
from poshgrid.evaluation.heuristics.schema import DIFFER, NONE, UNCLEAR
from poshgrid.evaluation.judgements import read_items
from poshgrid.models import ngram
from poshgrid.statistics import shares

LEFT_OUT = ("class-ngram", "local-bigram")
OTHERS = (NONE, mixture.GUESSING, DIFFER, UNCLEAR)


def main() -> None:
    """Plant, name, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("items", type=Path)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--right", action="store_true", help="only how often heuristics are right")
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--draws", type=int, default=200, help="of the bootstrap")
    parser.add_argument("--noise", type=float, nargs=2, default=(0.05, 0.15))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    items = _read(options.items)
    judged = items.filter(~pl.col("joint")).vstack(
        items.filter("joint").sort("item_id").unique(
            ["category", "phenomenon", "template", "lexical_set"], keep="first")
    )  # fmt: skip
    lines = options.text.read_text(encoding="utf-8").splitlines() if options.text else []
    said = [table.of_words(table.preferences(items), items), *_counted(lines, items)]
    frame = table.wide(pl.concat(said), judged)
    if options.right:
        _right(frame)
        return
    frame = frame.join(table.edits(items), on="item_id", maintain_order="left")
    frame = frame.join(_unlisted(items), on="item_id", maintain_order="left")
    columns = ["phenomenon", "kind", "planted", "own", "other", "hierarchical", *OTHERS]
    columns += ["sure", "least", "most"]
    print(f"| {' | '.join(columns)} |\n|---|---|---|{'---:|' * 10}")
    for part in frame.partition_by("category", "phenomenon", maintain_order=True):
        for line in recovery(part, options):
            print(line)
            sys.stdout.flush()


def _right(frame: pl.DataFrame) -> None:
    """Print how often each heuristic is right, in percent of the pairs that it has a say on."""
    phenomena = frame["phenomenon"].unique(maintain_order=True).to_list()
    print(f"| heuristic | {' | '.join(phenomena)} |\n|---|{'---:|' * len(phenomena)}")
    for heuristic in frame.columns[4:]:
        cells = []
        for phenomenon in phenomena:
            says = frame.filter(phenomenon=phenomenon)[heuristic].drop_nulls()
            cells.append(f"{100 * says.mean():.1f} ({len(says)})" if len(says) else "")
        print(f"| `{heuristic}` | {' | '.join(cells)} |")


def recovery(part: pl.DataFrame, options: argparse.Namespace) -> Iterator[str]:
    """Yield the rows of a phenomenon.

    Args:
        part: from :func:`table.wide`, with columns of what is not listed (``~name``).
        options: the command's arguments.
    """
    shares.REPLICATES = options.draws
    for kind, name, own, preferred, listed in _learners(part, options.seeds):
        drawn = shares.times(listed)
        label = f"{listed.names['phenomenon']}/{kind}/{name}"
        generator = np.random.default_rng([options.seed, zlib.crc32(label.encode())])
        counts: Counter[str] = Counter()
        ends: list[float] = []
        for _ in range(options.replications):
            against = generator.uniform(*options.noise)
            chances = against + preferred * (1 - 2 * against)
            chose = (generator.random(chances.shape) < chances).astype(float)
            _, row = shares.mixed(listed._replace(chose=chose), drawn)
            verdict = row["verdict"]
            if row["shared_high"] is not None and (row["low"] or 0) > shares.MOST:
                ends.append(100 * row["shared_high"])
            named = "own" if verdict == own else verdict if verdict in OTHERS else "other"
            counts.update([named, *["hierarchical"] * (named == "other" and row["hierarchical"])])
        numbers = " | ".join(str(counts[key]) for key in ("own", "other", "hierarchical", *OTHERS))
        shared = f"{len(ends)} | {min(ends):.0f} | {max(ends):.0f}" if ends else "0 | – | –"
        yield f"| {listed.names['phenomenon']} | {kind} | {name} | {numbers} | {shared} |"


def _learners(
    part: pl.DataFrame, seeds: int
) -> Iterator[tuple[str, str, str, np.ndarray, shares.Phenomenon]]:
    """Yield kind, name, right verdict, what is preferred (pairs x seeds), and what is listed."""
    unlisted = [name for name in part.columns if name.startswith("~")]
    empty, coin = np.full((part.height, 1), 0.5), np.full(part.height, 0.5)
    full = shares.phenomenon("planted", part.drop(unlisted), empty)
    heuristics, says, _ = shares.competing(full)
    for name, row in [*zip(heuristics, says, strict=True), (mixture.GUESSING, coin)]:
        label = f"{name} ({(row != 0.5).mean():.0%})"
        yield "listed", label, name, np.tile(row[:, None], seeds), full
    for name in [*unlisted, *(name for name in LEFT_OUT if name in full.heuristics)]:
        row = part[name].fill_null(0.5).to_numpy()
        less = shares.phenomenon("planted", part.drop(list({*unlisted, name})), empty)
        others = [*shares.competing(less)[1], coin]
        if min(len(np.unique(full.sets[row != other])) for other in others) >= mixture.FEW:
            label = f"{name.strip('~')} ({(row != 0.5).mean():.0%})"
            yield "unlisted", label, NONE, np.tile(row[:, None], seeds), less
    spoken = [n for n, row in enumerate(says) if (row != 0.5).mean() > 0.8]
    for one, other in list(pairwise(spoken))[: 2 * (seeds > 1)]:
        name = f"{heuristics[one]}, {heuristics[other]}"
        yield "two", name, NONE, np.tile((says[one] + says[other])[:, None] / 2, seeds), full
        mixed = np.column_stack([says[one]] * (seeds - 1) + [says[other]])
        yield "seeds", name, DIFFER, mixed, full


def _unlisted(items: pl.DataFrame) -> pl.DataFrame:
    """Return item_id and columns of what models prefer that follow no listed heuristic."""
    good, bad = pl.col("good"), pl.col("bad")
    fewer, more = (good.str.len_chars() - 0.5 * way < bad.str.len_chars() for way in (-1, 1))
    return items.select(
        "item_id",
        (good < bad).cast(pl.Float64).alias("~alphabet"),
        ((fewer.cast(pl.Float64) + more.cast(pl.Float64)) / 2).alias("~characters"),
    )


def _counted(lines: list[str], items: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield preferences of the heuristics that count words: the baselines, with 5-grams."""
    if not lines:
        return
    models = {baseline: ngram.fit(lines, **counting(baseline, 5)) for baseline in WORD_BASELINES}
    yield table.of_words(table.of_counts(table.comparisons(items), models["unigram"]), items)
    judged = {}
    for name, model in models.items():
        good, bad = (
            np.array(model.score(items[member].to_list()))
            / np.array([len(ngram.words(sentence)) + 1 for sentence in items[member]])
            for member in ("good", "bad")
        )
        right = np.where(good == bad, 0.5, good > bad)
        judged[name] = items.select("item_id", correct=pl.Series(right))
    yield table.of_baselines(judged)


def _read(path: Path) -> pl.DataFrame:
    if path.is_file():
        return read_items(path)
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "items.parquet"
        suite = Suite(name="published", reader="pairs", path=path.name)
        generate(specs.ItemsSpec(suite=suite, top_k=1), path.parent, {}, {}, found)
        return read_items(found)


if __name__ == "__main__":
    main()
