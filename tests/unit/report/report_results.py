"""A small study's results, made up for the tests of the report: every file that it reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest

from poshgrid.benchmark.schema import PAIRS
from poshgrid.config import Recipe, Regression, specs
from poshgrid.config.paths import Paths
from poshgrid.config.runs import UNTRAINED
from poshgrid.config.sizes import words
from poshgrid.core import files
from poshgrid.evidence.schema import SIDE_EFFECTS
from poshgrid.evidence.side_effects import MEASURES
from poshgrid.report import style
from poshgrid.report.collect import Collected, Fit
from poshgrid.report.layout import Layout, lay_out
from poshgrid.report.parts import Page
from poshgrid.statistics.accuracy import ROW, summarise
from poshgrid.statistics.schema import ACCURACY, CONTRASTS, COUNTS, PREDICTIVE, SUMMARY
from poshgrid.statistics.verdicts import VERDICTS
from tests.cases import read_cases
from tests.shipped import posh_table
from tests.unit.statistics.scored import pairs

DATA = read_cases(__file__, "study")
CATEGORY = {name: category for category, names in DATA["phenomena"].items() for name in names}
PHENOMENA = tuple(CATEGORY)
N = 100  # pairs per phenomenon
LESS = 123  # words that a condition has less than its size says


@contextmanager
def undrawn() -> Iterator[None]:
    """Leave figures' files empty: they are most of a page's time, and not what is looked at."""

    def finish(_figure, folder, name, label):
        for kind in style.KINDS:
            files.write_text(folder / f"{name}.{kind}", "")
        return f'<svg role="img" aria-label="{label}"></svg>'

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(style, "finish", finish)
        yield


def build(
    results: Path,
    *,
    conditions: tuple[str, ...] = ("baby", "baby-f", "wiki"),
    sizes: tuple[str, ...] = ("10M", "30M", "50M"),
    biases: tuple[str, ...] = ("none",),
    seeds: tuple[int, ...] = (42, 53, 76),
    missing: tuple[str, ...] = (),
    regressions: tuple[str, ...] = ("paper", "condition"),
) -> specs.ReportSpec:
    """Write a results folder and return the spec of its report.

    Args:
        results: folder to write to.
        conditions: "wiki" has a corpus of its own.
        sizes: as in a config.
        biases: inductive biases.
        seeds: of every run.
        missing: runs whose name begins so are asked for but not there.
        regressions: Bayesian models that are fitted.
    """
    paths = Paths(str(results))
    generator = np.random.default_rng(7)
    runs = [
        f"{c}/{s}/{'gpt2-mini' if s == sizes[0] else 'gpt2-small'}/{recipe}/{bias}/seed{seed}"
        for c in conditions
        for s in sizes
        for recipe, bias in [*(("packed", b) for b in biases), (UNTRAINED, "none")]
        for seed in seeds
    ]
    spec = specs.ReportSpec(
        target="all",
        runs=sorted(runs, key=lambda r: (UNTRAINED in r, r)),
        cells={
            f"{c}/{s}": specs.Cell(
                words=words(s), source="wiki" if c == "wiki" else "baby", filtered=c == "baby-f"
            )
            for c in conditions
            for s in sizes
        },
        corpora=sorted({"wiki" if c == "wiki" else "baby" for c in conditions}),
        conditions=list(conditions),
        sizes=list(sizes),
        parsers=["stanza", "spacy"],
        evidence_parser="stanza",
        regressions=list(regressions),
        suites=["posh"],
        removed={c: DATA["aims"] for c in conditions if c == "baby-f"},
    )
    there = [r for r in runs if not r.startswith(missing or ("\0",))]
    for corpus in spec.corpora:
        _corpus(paths, corpus, spec.sizes)
    for cell, facts in spec.cells.items():
        _cell(paths, *cell.split("/"), facts.words)
    _parsers(paths)
    posh = pairs({phenomenon: (category, N) for phenomenon, category in CATEGORY.items()})
    files.write_table(posh, Path(paths.items("posh")), PAIRS)
    manifest(Path(paths.items("posh")).parent)
    for run in there:
        if f"/{UNTRAINED}/" not in run:  # those are scored, and not kept
            folder, loss = Path(paths.model(run)), 3.6 + 0.05 * float(generator.random())
            losses = {"dev_loss": loss, "test_loss": loss + 0.01}
            files.write_json(folder / "statistics.json", DATA["model"] | losses)
            manifest(folder, recipe=Recipe(name="packed").model_dump())
        manifest(Path(paths.scores(run, "posh")).parent, scoring={})
    counts = _counts(there, spec, generator)
    folder = Path(paths.statistics("all"))
    files.write_table(counts, folder / "counts.parquet", COUNTS)
    files.write_table(accuracy(counts), folder / "accuracy.parquet", ACCURACY)
    manifest(folder, paths.items("posh"), scoring={"bos": True, "reduction": "mean"})
    manifest(Path(paths.statistics("other")))
    for name in regressions:
        folder, made = Path(paths.fit("all", name)), fit(name)
        files.write_table(made.summary, folder / "summary.parquet", SUMMARY)
        files.write_table(made.contrasts, folder / "contrasts.parquet", CONTRASTS)
        files.write_table(made.predictive, folder / "predictive.parquet", PREDICTIVE)
        files.write_json(folder / "diagnostics.json", made.diagnostics)
        manifest(folder, model=made.spec)
    return spec


def manifest(folder: Path, *inputs: str, **spec: Any) -> None:
    """Write a manifest as poshgrid.core.manifest does."""
    read = {os.path.relpath(path, folder): "digest" for path in inputs}
    own = {"spec": spec, "settings": spec, "wall_seconds": 4.0, "inputs": read}
    files.write_json(folder / "manifest.json", DATA["manifest"] | own)


def _corpus(paths: Paths, corpus: str, sizes: list[str]) -> None:
    sources = DATA["sources"][corpus]

    def counts(total: int) -> dict:
        share = {source: {"words": total // len(sources)} for source in sources}
        return {"words": total // len(sources) * len(sources), "sources": share}

    folder = Path(paths.sentences(corpus)).parent
    files.write_json(folder / "statistics.json", {
        "corpus": corpus, "dev": counts(100_000), "test": counts(99_000),
        "train": {s: counts(words(s)) for s in sizes},
    })  # fmt: skip
    manifest(folder, *map(paths.source, sources))
    for source in sources:
        manifest(Path(paths.source(source)).parent)


def _cell(paths: Paths, condition: str, size: str, number: int) -> None:
    """Write a condition at a size: its statistics, what went with the evidence, and its tokens."""
    wiki = condition == "wiki"
    split = {"sentences": number // 8, "words": number - LESS, "sources": {}}
    removed = {} if wiki else DATA["removed"]["baby"]
    folder = Path(paths.condition(condition, size))
    files.write_json(folder / "statistics.json", {
        "condition": condition, "corpus": "wiki" if wiki else "baby", "size": size,
        "splits": {"train": split, "dev": split, "test": split},
        "removed": {name: {"rule": number // 900, **facts} for name, facts in removed.items()},
        "reinserted": DATA["reinserted"] if condition == "baby" else {},
    })  # fmt: skip
    evidence = [paths.evidence("baby", parser) for parser in DATA["parsers"]]
    used = [paths.sentences("wiki")] if wiki else [paths.sentences("baby"), *evidence]
    manifest(folder, *used)
    if not wiki:
        side_effects(Path(paths.side_effects(condition, size)))
    folder = Path(paths.tokens(condition, size))
    files.write_json(folder / "statistics.json", {"train": {"tokens": int(number * 1.47)}})
    tokenizer = paths.tokenizer(condition, size)
    manifest(folder, f"{tokenizer}/tokenizer.json")
    manifest(Path(tokenizer))
    sweep(Path(paths.sweep(condition, size)).parent, number)


def side_effects(folder: Path, **changed: dict[str, int | None]) -> None:
    """Write what went with a removal: of each source 10% of the sentences, 20% of the words.

    Args:
        folder: of the counts.
        changed: measure -> columns of one source that are otherwise.
    """
    usual = {"sentences": (1000, 100), "words": (9000, 1800)}
    sources, rows = ("childes", "gutenberg"), []
    for source in (*sources, "all"):
        times = len(sources) if source == "all" else 1
        for measure in MEASURES:
            before, gone = usual.get(measure, (50, 5))
            row = {"before": before, "after": before - gone, "removed": gone}
            row |= changed.get(measure, {})
            rows.append({"source": source, "measure": measure}
                        | {k: v if v is None else times * v for k, v in row.items()})  # fmt: skip
    files.write_table(
        pl.DataFrame(rows, schema=SIDE_EFFECTS), folder / "side_effects.parquet", SIDE_EFFECTS
    )
    manifest(folder)


def sweep(folder: Path, words: int, reached: int = 65_536) -> None:
    """Write a sweep of two sizes, the second of which the text may not reach."""
    rows = [
        {"vocabulary_size": asked, "reached": min(asked, reached),
         "tokens_without_boundaries": tokens, "tokens_with_boundaries": tokens + words // 8 + 1,
         "tokens_per_word": tokens / words}
        for asked, tokens in ((16_384, words * 3 // 2), (32_768, words * 5 // 4))
    ]  # fmt: skip
    files.write_json(folder / "sweep.json", {
        "sentences": words // 8, "words": words, "lowercase": False,
        "min_frequency": 2, "vocabularies": rows,
    })  # fmt: skip
    manifest(folder)


def _parsers(paths: Paths) -> None:
    for parser, scores in DATA["parsers"].items():
        files.write_json(Path(paths.parser(parser)) / "evaluation.json", DATA["parsed"] | scores)
        manifest(Path(paths.parser(parser)))
        labels, parses = Path(paths.evidence("baby", parser)), paths.parses("baby", "stanza", 0)
        manifest(labels.parent, parses)
    manifest(Path(paths.parses("baby", "stanza", 0)).parent)


def _counts(
    runs: list[str], spec: specs.ReportSpec, generator: np.random.Generator
) -> pl.DataFrame:
    rows = []
    for run in runs:
        condition, size, model, recipe, bias, seed = run.split("/")
        cell = spec.cells[f"{condition}/{size}"]
        for i, phenomenon in enumerate(PHENOMENA):
            lift = 0 if recipe == UNTRAINED else 0.05 + 0.04 * spec.sizes.index(size)
            lift += 0.04 * spec.conditions.index(condition) * (-1) ** i + 0.02 * len(bias)
            p = float(np.clip(0.3 + 0.045 * i + (0 if recipe == UNTRAINED else lift), 0.05, 0.97))
            rows.append({
                "condition": condition, "size": size, "model": model, "recipe": recipe,
                "bias": bias, "seed": int(seed[4:]), "suite": "posh",
                "category": CATEGORY[phenomenon], "phenomenon": phenomenon,
                "correct": float(generator.binomial(N, p)), "ties": 0, "n": N,
                "words": cell.words - LESS, "source": cell.source, "filtered": cell.filtered,
            })  # fmt: skip
    return pl.DataFrame(rows, schema=COUNTS)


def accuracy(counts: pl.DataFrame) -> pl.DataFrame:
    """Return accuracies of these counts, with intervals of 5 points; wanna's baselines are far."""
    bounds = ("low", "high")
    kinds = dict.fromkeys(ROW, pl.String) | {name: ACCURACY[name] for name in bounds}
    none = pl.DataFrame(schema=kinds)
    both = counts.with_columns(by_sum="correct", by_mean="correct", cell=pl.lit(""))
    rows = summarise(both, none).with_columns(
        low=pl.max_horizontal(0.0, pl.col("mean") - 0.05),
        high=pl.min_horizontal(1.0, pl.col("mean") + 0.05),
        mean_sum=pl.lit(None, pl.Float64),
        far=pl.when(phenomenon="wanna").then(pl.lit("untrained, ngram")).otherwise(pl.lit("")),
        **{name: pl.lit(None, kind) for name, kind in VERDICTS.items()},
    )
    return rows.select(list(ACCURACY))


def contrasts(*names: str) -> pl.DataFrame:
    """Return the rows of contrasts of study.yaml; a point is worth 4 hundredths of log odds.

    Shares are a quarter of the log odds, as they are near 50%.
    """
    rows = [
        {
            "contrast": name, "factor": contrast["factor"],
            "first": contrast["sides"][0], "less": contrast["sides"][1],
            "by": "category" if level else "",
            "level": level, "median": value, "low": value - 0.1, "high": value + 0.1,
            "above": 0.9995 if value > 0.1 else 0.0003 if value < -0.1 else 0.5 + value,
            "share": value / 4, "joint_low": (value - 0.1) / 4, "joint_high": (value + 0.1) / 4,
            "raw": value / 3, "words_first": 8_654_321, "words_less": 10_000_000,
        }
        for name in names
        for contrast in [DATA["contrasts"][name]]
        for level, value in contrast["differences"].items()
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=CONTRASTS)


def predictive() -> pl.DataFrame:
    """Return a predictive check of nine cells at each of three sizes, four of them outside."""
    rows = [
        {
            "condition": "baby", "size": size, "model": "gpt2-mini", "recipe": "packed",
            "bias": "none", "category": CATEGORY[phenomenon], "phenomenon": phenomenon,
            "n_seeds": 3, "n": 3 * N, "predicted": mean, "low": mean - 0.04, "high": mean + 0.04,
            "observed": mean + (-1) ** i * (0.1 if out else 0.01), "p": 0.001 if out else 0.6,
        }
        for j, size in enumerate(("10M", "30M", "50M"))
        for i, phenomenon in enumerate(PHENOMENA)
        for mean, out in [(0.4 + 0.05 * i + 0.02 * j, 9 * j + i < 4)]
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=PREDICTIVE)


def summary() -> pl.DataFrame:
    """Return the paper's coefficients; a mean is 0.004 above its median, an interval 0.04 wide.

    The last category follows from the others.
    """
    paper = posh_table("table12").select("term", "label", "median").rows()
    rows = [
        *(
            (term, label, "sd" if "sigma" in term else "common", False, m)
            for term, label, m in paper
        ),
        ("S(category)[wanna]", "Category (wanna)", "common", True, -0.33),
        ("1|seed[42]", "Seed 42", "group", False, 0.01),
    ]
    frame = pl.DataFrame(rows, schema=list(SUMMARY)[:5], orient="row")
    median = pl.col("median")
    return frame.with_columns(
        mean=median + 0.004, sd=0.02, low=median - 0.04, high=median + 0.04, r_hat=1.0012,
        ess_bulk=1850.0, ess_tail=2100.0,
    )  # fmt: skip


def fit(name: str) -> Fit:
    """Return a fitted model that has converged."""
    model, cells = Regression(name=name, **DATA["regressions"][name]), predictive()
    check = {"cells": cells.height, "inside": cells.height - 4, "p": 0.4}
    diagnostics = DATA["diagnostics"] | {"formula": model.formula, "predictive": check}
    rows = contrasts(*DATA["fitted"][name])
    return Fit(name, summary(), rows, cells, diagnostics, model.model_dump())


class Study(NamedTuple):
    """A results folder and what the report reads of it."""

    folder: Path
    spec: specs.ReportSpec
    collected: Collected

    @property
    def layout(self) -> Layout:
        """The order of what the page lists."""
        return lay_out(self.collected)

    def changed(self, **fields: object) -> Study:
        """Return the study with other results."""
        other, known = copy(self.collected), vars(self.collected)
        other.__dict__ = {k: v for k, v in known.items() if k != "exposure"} | fields
        return self._replace(collected=other)

    def written(self, module: ModuleType, output: Path) -> tuple[dict[str, Any] | None, Page]:
        """Write a section; return what its template needs, and the page with what it wrote."""
        page = Page(self.collected, output)
        with undrawn():
            return module.write(page), page

    def html(self, module: ModuleType, output: Path) -> str:
        """Return a section as the page shows it."""
        with undrawn():
            return str(Page(self.collected, output).section(module))


def study(folder: Path, spec: specs.ReportSpec | None = None, **options: Any) -> Study:
    """Read a results folder; write it first where there is no spec (:func:`build`)."""
    spec = spec or build(folder, **options)
    return Study(folder, spec, Collected(spec, folder))


def drawn(draw: Callable[..., Any], frame: pl.DataFrame) -> set[float]:
    """Return the numbers along both axes at which a figure has marks and lines."""
    with style.drawing("test"):
        axes = draw(frame, style.Palette()).axes
    lines = [line.get_xydata() for a in axes for line in a.lines]
    scattered = [c.get_offsets() for a in axes for c in a.collections]
    return {round(float(x), 6) for marks in (*lines, *scattered) for x in np.ravel(marks)}


def percents(values: Iterable[float | None]) -> set[float]:
    """Return shares in percent, as :func:`drawn` has them; those that are known."""
    return {round(100 * value, 6) for value in values if value is not None}


def shown(page: Page, name: str) -> list[dict[str, str]]:
    """Return a table's rows as the page shows them: title -> text."""
    table = page.shown[name]
    titles = [column.title for column in table.columns]
    return [dict(zip(titles, row, strict=True)) for row in table.shown()]
