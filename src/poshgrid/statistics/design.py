"""The data of a Bayesian model: coded predictors, and a formula without useless terms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from poshgrid.config.formula import RESPONSE, check, parts, suite_of
from poshgrid.config.runs import REFERENCE, parse_only
from poshgrid.core.errors import PoshgridError, check_known, did_you_mean
from poshgrid.statistics.schema import RUN_AXES

if TYPE_CHECKING:
    import pandas as pd

    from poshgrid.config import Regression

_FACTORS = ("condition", "model", "recipe", "bias", "category", "phenomenon")
_ORDER = [
    "condition", "words", "size", "model", "recipe", "bias", "seed", "category", "phenomenon",
    "template",
]  # fmt: skip
CELL = [*RUN_AXES, "seed", "phenomenon", "template"]
"""The columns that identify a row of a suite's counts."""


@dataclass(frozen=True)
class Design:
    """The data and the formula of a fit.

    Attributes:
        frame: one row per run and phenomenon: correct, n (integers),
            size_z, accuracy (before rounding), words (trained on), and factors as ordered
            categoricals.
        formula: the formula of the configuration, expanded, without the terms that the data cannot
            estimate.
        notes: a line for every term that is left out or not identified.
        rounded: number of rows whose count ended in .5 and was rounded.
    """

    frame: pd.DataFrame
    formula: str
    notes: list[str] = field(default_factory=list)
    rounded: int = 0


def design(
    counts: pl.DataFrame,
    formula: str,
    suite: str | None = None,
    only: str | None = None,
    phenomena: Sequence[str] | None = None,
) -> Design:
    """Return the data and formula of a model.

    Only trained runs are used, and runs with an inductive bias only if the formula names ``bias``.

    Predictors (paper, section 6):

    - ``size_z``: million words that the run was trained on, z-scored over pairs (a row counts ``n``
      times). It is 0 where all runs have one size, because the small differences in words between
      conditions would then be an effect of the conditions.
    - sum-coded by ``S(x)``: ``filter`` (yes +1, no -1), ``source`` (alphabetical: baby +1, wiki
      -1), ``category`` (alphabetical; the last one, wanna, is implicit), and likewise condition,
      model, recipe and bias; ``size`` (sorted by words).
    - groups: ``seed``, ``phenomenon``, ``run`` (all axes and the seed joined), ``cell`` (run and
      phenomenon joined: an effect for every count, for counts that vary more than a binomial's),
      ``point`` (a cell without its seed: what the seeds of a point of the grid have in common), and
      ``template`` (phenomenon and template joined). Counts are summed over templates unless the
      formula names them.

    A tie counts as half a success, but a binomial count is whole: a count that ends in .5 is
    rounded to the nearest even number, which favours neither side over many rows.

    Args:
        counts: columns of ``COUNTS``, in any order.
        formula: in bambi's notation, with response ``p(correct, n)``.
        suite: which suite; default: ``posh``, or the only one.
        only: values of axes that select runs, e.g. ``recipe=packed``. A model whose formula lacks
            the recipe should not mix two recipes.
        phenomena: names of phenomena or categories to use; default: all.

    Raises:
        PoshgridError: fewer than two rows are left; or the formula cannot be read or names an
            unknown variable.
    """
    counts = counts.with_columns(pl.col("template").fill_null(""))
    used = {variable for term in _parsed(formula) for variable in term.var_names}
    rows = _select_rows(counts, suite, only, keep_biases="bias" in used)
    for name in phenomena or ():
        known = {*rows["category"], *rows["phenomenon"]}
        check_known("regressions: phenomena: not in the suite", name, known)
    if phenomena is not None:
        chosen = pl.col("category", "phenomenon").is_in(phenomena)
        rows = rows.filter(pl.any_horizontal(chosen))
    if rows.select(CELL[:-1]).n_unique() < 2:
        raise PoshgridError(
            f"counts: {'/'.join(map(str, rows.select(CELL[:-1]).row(0)))} is the only count: no "
            "model can be fitted to it; add runs or phenomena to the target"
        )
    by_template = "template" in used
    rows = rows.group_by(_ORDER if by_template else _ORDER[:-1], maintain_order=True).agg(
        pl.col("source", "filtered").first(), pl.col("correct", "n").sum()
    )
    frame, rounded = _model_frame(rows)
    kept, notes = _estimable(formula, frame)
    notes += [*_aliased(kept, frame), *_confounded(used, frame)]
    if rounded:
        notes.append(f"{rounded} counts ended in .5 (ties) and were rounded to even")
    return Design(frame, kept, notes, rounded)


def _select_rows(
    counts: pl.DataFrame, suite: str | None, only: str | None, *, keep_biases: bool
) -> pl.DataFrame:
    suites = sorted(counts["suite"].unique())
    chosen = suite_of(suite, suites)
    rows = counts.filter(
        (pl.col("suite") == chosen)
        & ~pl.col("recipe").is_in(REFERENCE)
        & (pl.lit(keep_biases) | (pl.col("bias") == "none"))
        & (pl.col("n") > 0),
        *(pl.col(axis).cast(pl.String).is_in(values) for axis, values in parse_only(only).items()),
    )
    if rows.is_empty():
        raise PoshgridError(
            f"counts: no trained run without a bias on suite {chosen!r} (only: {only or 'all'})"
            f"{did_you_mean(chosen, suites)}; nothing to fit: add such a run to the target"
        )
    return rows.sort(_ORDER)


def _model_frame(rows: pl.DataFrame) -> tuple[pd.DataFrame, int]:
    import pandas as pd

    size, n = rows["words"].to_numpy() / 1e6, rows["n"].to_numpy().astype(float)
    mean = np.average(size, weights=n)
    # As R's scale() over pairs: the denominator is the number of pairs minus one.
    sd = np.sqrt((n * (size - mean) ** 2).sum() / max(n.sum() - 1, 1))
    scaled = sd > 0 and rows["size"].n_unique() > 1
    correct = rows["correct"].to_numpy()
    data: dict[str, object] = {
        # rint rounds halves to even
        "correct": np.rint(correct).astype(np.int64),
        "n": n.astype(np.int64),
        "size_z": (size - mean) / sd if scaled else np.zeros_like(size),
        "accuracy": correct / n,
        "words": rows["words"].to_numpy(),
    }
    joined = {
        "run": [*RUN_AXES, "seed"],
        "cell": [*RUN_AXES, "seed", "phenomenon"],
        "point": [*RUN_AXES, "phenomenon"],
    } | ({"template": ["phenomenon", "template"]} if "template" in rows.columns else {})
    rows = rows.with_columns(
        *(pl.concat_str(parts, separator="/").alias(name) for name, parts in joined.items()),
        filter=pl.when("filtered").then(pl.lit("yes")).otherwise(pl.lit("no")),
    )
    factors = {name: rows[name].unique().sort() for name in (*_FACTORS, "seed", "source")}
    factors |= {name: rows[name].unique(maintain_order=True) for name in joined}
    factors["filter"] = rows["filter"].unique().sort(descending=True)
    factors["size"] = rows.sort("words", "size")["size"].unique(maintain_order=True)
    for name, known in factors.items():
        # Strings would be sorted again, which flips signs: only ordered categoricals keep an order.
        values, levels = (column.cast(pl.String).to_list() for column in (rows[name], known))
        data[name] = pd.Categorical(values, categories=levels, ordered=True)
    return pd.DataFrame(data), int((correct % 1 != 0).sum())


def terms(formula: str) -> list[str]:
    """Return the names of a formula's terms as in summaries, e.g. ``1|seed``.

    Raises:
        PoshgridError: the formula cannot be read.
    """
    return [term.name for term in _parsed(formula)]


def check_priors(model: Regression) -> None:
    """Raise if the model has a prior for a term that its formula lacks.

    Raises:
        PoshgridError: a term is unknown, or the formula cannot be read.
    """
    known = ["Intercept", *terms(model.formula)]
    for prior in model.priors:
        if parts(prior.term) not in map(parts, known):
            near = did_you_mean(prior.term, known)
            raise PoshgridError(f"regressions: {model.name}: priors: no term {prior.term!r}{near}")


def _parsed(formula: str) -> list[Any]:
    """Return the terms as objects of the library formulae: common terms, then groups."""
    from formulae import model_description

    try:
        check(formula)
        description = model_description(formula)
        return [*description.common_terms, *description.group_terms]
    except Exception as error:  # formulae raises its own errors and Python's
        reason = str(error).removeprefix(f"{formula!r} ")
        raise PoshgridError(f"regressions: formula {formula!r}: {reason}") from error


def _estimable(formula: str, frame: pd.DataFrame) -> tuple[str, list[str]]:
    """Return the formula without the terms of variables that have one value, and notes on them."""
    terms = _parsed(formula)
    single = {name for name in frame.columns if frame[name].nunique() == 1}
    kept, notes = [], []
    has_intercept = any(term.name == "Intercept" for term in terms)
    for term in terms:
        if term.name == "Intercept":
            continue
        one_valued = sorted(v for v in term.var_names if v in single)
        effect, _, group = term.name.rpartition("|")
        by = effect.split(":")
        reduced = ""
        if group not in single and all(hasattr(frame.get(name), "cat") for name in by):
            # Drop factors with one level from the effect: (0 + category|cell) becomes (1|cell)
            reduced = f"{':'.join(name for name in by if name not in single) or '1'}|{group}"
        if one_valued:
            only = f"{one_valued[0]} has one value, {frame[one_valued[0]].iloc[0]}"
            kept_as = f"fitted as {_in_formula(reduced)}" if reduced else "left out"
            notes.append(f"term {term.name} {kept_as}: {only}")
        if reduced or not one_valued:
            kept.append(_in_formula(reduced or term.name))
    return f"{RESPONSE} ~ " + " + ".join(["1" if has_intercept else "0", *kept]), notes


def _in_formula(name: str) -> str:
    """Return a term as formulas write it: ``1|seed`` -> ``(1|seed)``."""
    if "|" not in name:
        return name
    effect, group = name.split("|")
    return f"({effect}|{group})" if effect == "1" else f"(0 + {effect}|{group})"


def _aliased(formula: str, frame: pd.DataFrame) -> list[str]:
    """Return a note for each column of the design that earlier columns determine."""
    if all("|" in name for name in terms(formula)):
        return []
    notes, rank, columns = [], 0, common_matrix(formula, frame)
    for i, name in enumerate(columns):
        grown = int(np.linalg.matrix_rank(columns.iloc[:, : i + 1].to_numpy()))
        if grown == rank:
            notes.append(f"{name} is not identified: earlier terms determine it; only its prior is")
        rank = grown
    return notes


def _confounded(used: set[str], frame: pd.DataFrame) -> list[str]:
    """Return a note if models differ between sizes and the formula has the size but no model."""
    of_size = frame.groupby("size", observed=True)["model"].agg(lambda x: "/".join(sorted({*x})))
    if "model" in used or not used & {"size", "size_z"} or of_size.nunique() == 1:
        return []
    sizes = of_size.groupby(of_size)
    shown = "; ".join(f"{model} at {', '.join(part.index)}" for model, part in sizes)
    return [
        f"size goes with the model ({shown}): the effect of size is that of both; other contrasts "
        "are taken within one size and model"
    ]


def common_matrix(formula: str, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the coded predictors of a formula: one column per coefficient, with its name."""
    return matrices(formula, frame).common.as_dataframe()


def matrices(formula: str, frame: pd.DataFrame) -> Any:  # noqa: ANN401 - formulae has no types
    """Return the design matrices of a formula (library formulae): ``.common`` and ``.group``.

    The response is left out, because formulae accepts whole counts only.
    """
    from formulae import design_matrices

    return design_matrices(formula.partition("~")[2].strip(), frame)
