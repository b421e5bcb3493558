"""What models that know no syntax make of a suite, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from poshgrid import files
from poshgrid import runs as points
from poshgrid.benchmark.lexicon import tokens
from poshgrid.errors import PoshgridError
from poshgrid.statistics import judgements, runs

if TYPE_CHECKING:
    from poshgrid.config import Scoring

NULLS: files.Schema = {
    "category": pl.String,
    "phenomenon": pl.String,
    "null": pl.String,  # untrained, unigram, ngram
    "condition": pl.String,
    "size": pl.String,
    "learner": pl.String,
    "seed": pl.String,
    "pairs": pl.UInt32,
    "ties": pl.UInt32,  # half a point each
    "accuracy": pl.Float64,
}
"""``nulls.csv``: a row for each phenomenon and run."""
_FEW = 5  # words that an explanation names
_LONGER = 0.5  # mean difference of tokens that is worth a word


@dataclass(frozen=True)
class Null:
    """One kind of null on one phenomenon: the mean over cells of the mean over their runs."""

    category: str
    phenomenon: str
    null: str
    mean: float
    least: float  # of the cells
    most: float
    cells: dict[str, float]  # "condition/size" -> mean over its runs
    runs: int
    flagged: bool
    why: str  # "" where the cause is not known

    def described(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)

    def sentence(self) -> str:
        """Return what is wrong, for people."""
        name = {"ngram": "n-gram"}.get(self.null, self.null)
        return (
            f"The {name} null is right in {100 * self.mean:.1f}% of the pairs "
            f"({100 * self.least:.1f} to {100 * self.most:.1f}% by cell), not in about 50%."
            + (f" {self.why}" if self.why else "")
        )


def accuracies(
    items: pl.DataFrame, scores: Mapping[str, Path], scoring: Scoring
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Judge the nulls.

    Args:
        items: the columns of ``PAIRS``.
        scores: "condition/size/learner/regimen/bias/seedN" -> its scores (``SCORES``); regimen
            ``untrained``, or ``counted`` with the learner ``unigram`` or ``ngram``.
        scoring: how scores are compared.

    Returns:
        ``NULLS``, and ``item_id``, ``tokens``: good minus bad in scored tokens, untrained runs
        only, a row for each item and run.

    Raises:
        PoshgridError: a run is no null, a file is broken, its items are not the suite's, or a
            score is not a number.
    """
    known = items.unique("item_id", keep="first")  # the gate's own check names those given twice
    frames = [pl.DataFrame(schema=NULLS)]
    lengths = [pl.DataFrame(schema={"item_id": pl.String, "tokens": pl.Int64})]
    for name, path in sorted(scores.items()):
        null = _null(name, path)
        judged = judgements.judged(path, known, scoring)
        frames.append(
            judged.group_by("category", "phenomenon")
            .agg(
                pairs=pl.len(),
                ties=(pl.col("correct") == 0.5).sum(),
                accuracy=pl.col("correct").mean(),
            )
            .with_columns(pl.lit(value).alias(column) for column, value in null.items())
            .select(list(NULLS))
            .cast(NULLS)
        )
        if null["null"] == points.UNTRAINED:
            difference = pl.col("good_tokens").cast(pl.Int64) - pl.col("bad_tokens")
            lengths.append(judged.select("item_id", tokens=difference))
    order = ["category", "phenomenon", "null", "condition", "size", "learner", "seed"]
    return pl.concat(frames).sort(order), pl.concat(lengths)


def summarise(
    table: pl.DataFrame,
    items: pl.DataFrame,
    counts: Mapping[str, Counter[str]],
    tolerance: float,
    lengths: pl.DataFrame,
) -> list[Null]:
    """Return each kind of null on each phenomenon, in the order of the items.

    Args:
        table: ``NULLS``.
        items: the columns of ``PAIRS``.
        counts: base -> type -> tokens, for explanations.
        tolerance: a mean further than this from 50% is flagged.
        lengths: as :func:`accuracies` returns them.
    """
    found = []
    for (category, phenomenon), rows in items.group_by(
        "category", "phenomenon", maintain_order=True
    ):
        for kind in points.NULLS:
            of_kind = table.filter(
                (pl.col("category") == category)
                & (pl.col("phenomenon") == phenomenon)
                & (pl.col("null") == kind)
            )
            if of_kind.is_empty():
                continue
            cells = {
                f"{condition}/{size}": float(part["accuracy"].mean())
                for (condition, size), part in of_kind.group_by(
                    "condition", "size", maintain_order=True
                )
            }
            mean = sum(cells.values()) / len(cells)
            # A hair's breadth for the sum: 0.55 is within 0.05 of 0.5.
            flagged = abs(mean - 0.5) > tolerance + 1e-9
            found.append(
                Null(
                    str(category),
                    str(phenomenon),
                    kind,
                    mean,
                    min(cells.values()),
                    max(cells.values()),
                    cells,
                    of_kind.height,
                    flagged,
                    explain(rows, kind, counts, lengths) if flagged else "",
                )
            )
    return found


def explain(
    rows: pl.DataFrame, kind: str, counts: Mapping[str, Counter[str]], lengths: pl.DataFrame
) -> str:
    """Return why a null leaves 50% on a phenomenon, where its words tell; "" where they do not.

    Args:
        rows: the pairs of the phenomenon.
        kind: the null.
        counts: base -> type -> tokens.
        lengths: as :func:`accuracies` returns them.
    """
    only: dict[str, Counter[str]] = {"good": Counter(), "bad": Counter()}
    for good, bad in rows.select("good", "bad").iter_rows():
        first, second = Counter(tokens(good)), Counter(tokens(bad))
        only["good"].update(first - second)
        only["bad"].update(second - first)
    if not only["good"] and not only["bad"]:
        return "The members have the same words: their order alone tells them apart."
    if max(map(len, only.values())) > _FEW:
        return ""
    mean = lengths.join(rows.select("item_id"), on="item_id")["tokens"].mean()
    if kind == "untrained" and isinstance(mean, float) and abs(mean) >= _LONGER:
        more = "longer" if mean > 0 else "shorter"
        return f"Good members are {abs(mean):.1f} tokens {more} on average."
    differ = f"The members differ in few words ({_listed(only)})"
    if kind == "untrained":
        return f"{differ}, and an untrained model prefers some of them at random."
    frequencies = [
        f"{base}: {_listed({member: _counted(only[member], counted) for member in only})}"
        for base, counted in counts.items()
    ]
    if not frequencies:
        return f"{differ}."
    also = " So may the words beside them." if kind == "ngram" else ""
    return (
        "The members differ in few words, and their frequencies tell "
        f"({'; '.join(frequencies)}).{also}"
    )


def flagged(found: Iterable[Null]) -> dict[str, list[str]]:
    """Return phenomenon -> sentences that say which nulls leave 50%."""
    said: dict[str, list[str]] = {}
    for null in found:
        if null.flagged:
            said.setdefault(null.phenomenon, []).append(null.sentence())
    return said


def _counted(words: Iterable[str], counted: Counter[str]) -> list[str]:
    return [f"{word} {counted[word]:,}" for word in sorted(words)]


def _listed(only: Mapping[str, Iterable[str]]) -> str:
    return " against ".join(", ".join(sorted(words)) or "nothing" for words in only.values())


def _null(name: str, path: Path) -> dict[str, str]:
    """Return the columns of ``NULLS`` that a run's name gives."""
    with suppress(PoshgridError):  # misnamed: the message below says more of nulls
        axes = runs.axes(name)
        counted = axes["regimen"] == points.COUNTED
        kind = axes["learner"] if counted else axes["regimen"]
        if kind in (points.WORD_NULLS if counted else (points.UNTRAINED,)):
            return {
                "null": kind,
                "seed": f"seed{axes['seed']}",
                **{axis: axes[axis] for axis in ("condition", "size", "learner")},
            }
    raise PoshgridError(
        f"{path}: run {name!r} is no null; name condition/size/learner/regimen/bias/seedN with "
        "regimen untrained, or counted and learner unigram or ngram"
    )
