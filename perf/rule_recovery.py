"""Whether learners that follow a rule are named after it, phenomenon by phenomenon.

    python perf/rule_recovery.py ITEMS [--text FILE --replications 100 --noise .1 .3 --seeds 3]

ITEMS is an items.parquet, or a folder in the published format (bad line, then good line). The rules
that count words take part where a text, a sentence a line, is given to count. In each replication a
learner follows one rule: of each pair that the rule has a say on it takes the other member with a
probability drawn from the range ``--noise``, and of every other pair any member. Each of its seeds
chooses anew. One more learner guesses. The choices pass through the statistics of
``poshgrid rule-shares``.

The answer is a table in Markdown: for each phenomenon and rule (rules that say the same of every
pair are one), the lexical sets that it has a say on; the rival that the fewest sets tell it from,
and how many; and how many learners were named after it alone, after it and others, and after
others alone. With ``--right`` nothing is planted, and the table says how often each rule is right.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from poshgrid.benchmark.items import generate
from poshgrid.config import Suite, specs
from poshgrid.config.runs import WORD_NULLS, counting
from poshgrid.evaluation.judgements import read_items
from poshgrid.models import ngram
from poshgrid.rules import mixture, predictions, table
from poshgrid.statistics import shares


def main() -> None:
    """Plant, name, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("items", type=Path)
    parser.add_argument("--text", type=Path)
    parser.add_argument("--right", action="store_true", help="only how often rules are right")
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--noise", type=float, nargs=2, default=(0.1, 0.3))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    items = _read(given.items)
    said = predictions.of_words(table.preferences(items), items)
    if given.text:
        said = pl.concat([said, *_counted(given.text, items)])
    judged = items.filter(~pl.col("joint")).vstack(
        items.filter("joint").sort("item_id").unique(
            ["category", "phenomenon", "template", "lexical_set"], keep="first")
    )  # fmt: skip
    if given.right:
        _right(predictions.wide(said, judged))
        return
    print("| phenomenon | rule | sets | nearest rival | apart | alone | with others | wrong |")
    print("| --- | --- | ---: | --- | ---: | ---: | ---: | ---: |")
    frame = predictions.wide(said, judged)
    for part in frame.partition_by("category", "phenomenon", maintain_order=True):
        for line in recovery(part, given):
            print(line)
            sys.stdout.flush()


def _right(frame: pl.DataFrame) -> None:
    """Print how often each rule is right, in percent, of how many pairs that it has a say on."""
    phenomena = frame["phenomenon"].unique(maintain_order=True).to_list()
    print(f"| rule | {' | '.join(phenomena)} |\n|---|{'---:|' * len(phenomena)}")
    for rule in frame.columns[4:]:
        cells = []
        for phenomenon in phenomena:
            says = frame.filter(phenomenon=phenomenon)[rule].drop_nulls()
            cells.append(f"{100 * says.mean():.1f} ({len(says)})" if len(says) else "")
        print(f"| `{rule}` | {' | '.join(cells)} |")


def recovery(part: pl.DataFrame, given: argparse.Namespace) -> list[str]:
    """Return the rows of a phenomenon.

    Args:
        part: from :func:`predictions.wide`.
        given: the command's arguments.
    """
    found = shares.phenomenon("planted", part, np.full((part.height, 1), 0.5))
    rules, says = shares.competing(found)
    drawn = shares.times(found)
    lines = []
    rules, says = [*rules, mixture.GUESSING], np.vstack([says, np.full(says.shape[1], 0.5)])
    for number, rule in enumerate(rules):
        name = f"{found.names['phenomenon']}/{rule}"
        generator = np.random.default_rng([given.seed, zlib.crc32(name.encode())])
        counts = {"alone": 0, "within": 0, "wrong": 0}
        for _ in range(given.replications):
            chose = planted(says[number], generator, given.noise, given.seeds)
            rows = list(shares.mixed(found._replace(chose=chose), drawn))
            named = [row["rule"] for row in rows if row["named"]]
            verdict = "wrong" if rule not in named else "within" if named[1:] else "alone"
            counts[verdict] += 1
        decided = says[number] != 0.5
        apart = {
            other: len(np.unique(found.sets[(says[number] != row)]))
            for other, row in zip(rules, says, strict=True)
            if mixture.GUESSING not in (rule, other) and other != rule
        }
        rival = min(apart, key=lambda other: apart[other], default=mixture.GUESSING)
        lines.append(
            f"| {found.names['phenomenon']} | {rule} | {len(np.unique(found.sets[decided]))} | "
            f"{rival} | {apart.get(rival, '')} | {counts['alone']} | {counts['within']} | "
            f"{counts['wrong']} |"
        )
    return lines


def planted(
    says: np.ndarray, generator: np.random.Generator, noise: tuple[float, float], seeds: int
) -> np.ndarray:
    """Return choices (pairs x seeds) of a learner that follows a rule.

    Args:
        says: probability that the rule takes the good member; .5: no say.
        generator: of the noise.
        noise: the range of the probability of the other member.
        seeds: how many.
    """
    against = generator.uniform(*noise)
    chance = np.where(says == 0.5, 0.5, np.where(says == 1, 1 - against, against))
    return (generator.random((len(says), seeds)) < chance[:, None]).astype(float)


def _counted(text: Path, items: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield preferences of the rules that count words: of the nulls, with 5-grams of words."""
    lines = text.read_text(encoding="utf-8").splitlines()
    models = {null: ngram.fit(lines, **counting(null, 5)) for null in WORD_NULLS}
    yield predictions.of_words(
        predictions.of_counts(predictions.comparisons(items), models["unigram"]), items
    )
    judged = {}
    for name, model in models.items():
        good, bad = (
            np.array(model.score(items[member].to_list()))
            / np.array([len(ngram.words(sentence)) + 1 for sentence in items[member]])
            for member in ("good", "bad")
        )
        right = np.where(good == bad, 0.5, good > bad)
        judged[name] = items.select("item_id", correct=pl.Series(right))
    yield predictions.of_nulls(judged)


def _read(path: Path) -> pl.DataFrame:
    if path.is_file():
        return read_items(path)
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "items.parquet"
        suite = Suite(name="published", reader="lines", path=path.name)
        generate(specs.ItemsSpec(suite=suite, top_k=1), path.parent, {}, {}, found)
        return read_items(found)


if __name__ == "__main__":
    main()
