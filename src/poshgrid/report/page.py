"""The page of a target: one HTML file that stands alone, its tables and figures beside it."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from poshgrid import files, logs, specs
from poshgrid.paths import Paths
from poshgrid.report import (
    benchmark,
    corpora,
    curves,
    evidence,
    examples,
    figures,
    headlines,
    latex,
    methods,
    sections,
    style,
    tables,
)
from poshgrid.report.collect import Collected, Fit, gather
from poshgrid.report.layout import Layout, lay_out
from poshgrid.report.records import link

if TYPE_CHECKING:
    from matplotlib.figure import Figure

log = logs.get(__name__)

SECTIONS = (
    ("findings", "Findings"),
    ("accuracy", "Accuracy"),
    ("model", "Bayesian model"),
    ("corpora", "Corpora"),
    ("parsing", "Parsing and evidence"),
    ("runs", "Runs"),
    ("items", "Benchmark"),
    ("tasks", "Other tasks"),
    ("methods", "Methods"),
    ("provenance", "Provenance"),
    ("downloads", "Downloads"),
)
_OWN = {"figures": (".pdf", ".png"), "tables": (".csv", ".tex")}


@dataclass(frozen=True)
class Picture:
    """A figure as the page shows it."""

    name: str
    caption: str
    wide: Any  # markupsafe.Markup
    narrow: Any


def write(spec: specs.ReportSpec, results: Path, output: Path) -> dict[str, Any]:
    """Write ``index.html``, ``figures/`` (PDF, PNG) and ``tables/`` (CSV, LaTeX) of a target.

    What has not been run is left out or said to be "not run"; the same results give the same page.

    Args:
        spec: what the page is about.
        results: the results folder.
        output: the page's folder.

    Returns:
        Numbers of figures and tables, of models asked for and missing, and the page's bytes.

    Raises:
        PoshgridError: a file of the results is broken, or the folder cannot be written.
    """
    results, output = Path(results), Path(output)
    collected = gather(spec, results, output)
    shelf = Shelf(output)
    text = render(collected, lay_out(collected), shelf, Paths(str(results)))
    files.write_text(output / "index.html", text)
    shelf.clear_stale()
    missing = sum(not t.done for t in collected.trained)
    if missing:
        log.warning("%s: %d of %d models are missing", spec.target, missing, len(collected.trained))
    log.info("%s", output / "index.html")
    return {
        "figures": sorted(shelf.written["figures"]),
        "tables": sorted(shelf.written["tables"]),
        "models": len(collected.trained),
        "missing": missing,
        "bytes": len(text.encode()),
    }


class Shelf:
    """Writes the figures and tables that the page links to."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self.written: dict[str, list[str]] = {"figures": [], "tables": []}

    def table(self, name: str, frame: pl.DataFrame, tex: str | None = None) -> None:
        """Write a table as CSV and, if it has a layout, as LaTeX."""
        folder = self.output / "tables"
        with files.atomic(folder / f"{name}.csv") as temporary:
            frame.write_csv(temporary)
        self.written["tables"].append(f"{name}.csv")
        if tex is not None:
            files.write_text(folder / f"{name}.tex", tex)
            self.written["tables"].append(f"{name}.tex")

    def plain(self, table: tables.PlainTable | None) -> tables.PlainTable | None:
        """Write a plain table and hand it on to the page."""
        if table is not None:
            self.table(table.name, sections.csv_frame(table), latex.plain(table))
        return table

    def picture(
        self, name: str, caption: str, draw: Callable[..., Figure], frame: pl.DataFrame
    ) -> Picture:
        """Draw a figure wide and narrow; write the wide one and its numbers."""
        from markupsafe import Markup

        with style.drawing(name):
            wide = figures.settle(draw(frame))
            self.written["figures"] += figures.save(wide, self.output / "figures", name)
            inline = figures.svg(wide, f"{name}-wide", caption)
            small = figures.svg(figures.settle(draw(frame, narrow=True)), f"{name}-narrow", caption)
        self.table(f"{name}-data", frame)
        return Picture(name, caption, Markup(inline), Markup(small))

    def clear_stale(self) -> None:
        """Remove figures and tables of an earlier report that this one does not have."""
        for folder, endings in _OWN.items():
            for path in sorted((self.output / folder).glob("*")):
                if path.suffix in endings and path.name not in self.written[folder]:
                    path.unlink()


def render(collected: Collected, layout: Layout, shelf: Shelf, paths: Paths) -> str:
    """Return the page's HTML; write its figures and tables on the way."""
    import jinja2
    from markupsafe import Markup

    spec = collected.spec
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("poshgrid", "report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=False,
    )
    css = (
        style.css_variables()
        + jinja2.PackageLoader("poshgrid", "report").get_source(environment, "page.css")[0]
    )
    suites = [_suite(collected, layout, suite, shelf, paths) for suite in spec.suites]
    losses = tables.curves(collected, layout)
    learning = None
    if not losses.is_empty():
        caption = (
            "Loss on the dev split during training, from the first evaluation after the start; one "
            "line for each seed."
        )
        learning = shelf.picture("learning-curves", caption, figures.learning, losses)
    plain = {
        "grid": sections.grid(collected, layout),
        "words_by_source": corpora.words_by_source(collected, layout),
        "conditions": corpora.conditions(collected, layout),
        "tokens": corpora.tokens(collected, layout),
        "vocabularies": corpora.vocabularies(collected, layout),
        "parsers": evidence.parsers(collected),
        "screening": evidence.screening(collected),
        "agreement": evidence.agreement(collected),
        "removed": evidence.removed(collected, layout),
        "words_difference": evidence.words_difference(collected, layout),
        "learners": curves.learners(collected),
        "runs": sections.runs(collected),
    }
    phenomena = {p for found in layout.phenomena.values() for _, p in found}
    models = len(collected.asked)
    return environment.get_template("page.html").render(
        css=Markup(css),
        spec=spec,
        heading=f"{tables.counted(models, 'language model')}, "
        f"{tables.counted(len(phenomena), 'phenomenon', 'phenomena')}",
        sections=SECTIONS,
        warnings=headlines.warnings(collected),
        facts=_facts(collected, layout),
        findings=headlines.findings(collected, layout),
        suites=suites,
        averages=curves.average_picture(collected, layout, shelf.picture),
        ramp=[0.0, 0.25, 0.5, 0.75, 1.0],
        models=[_model(collected, model, shelf) for model in spec.models],
        tables={name: shelf.plain(table) for name, table in plain.items()},
        learning=learning,
        tasks=[
            (suite, task, shelf.plain(_measured(suite, task, collected.measures.get(suite))))
            for suite, task in spec.measured.items()
        ],
        methods=methods.paragraphs(collected, layout),
        provenance=sections.provenance(collected),
        packages=collected.packages,
        version=importlib.metadata.version("poshgrid"),
        downloads=list(_downloads(collected, shelf, paths)),
    )


def _facts(collected: Collected, layout: Layout) -> list[tuple[str, str, str]]:
    """Return what was run, in numbers: (name, number, note)."""
    spec = collected.spec
    done = sum(t.done for t in collected.asked)
    nulls = len(collected.trained) - len(collected.asked)
    pairs = sum(items.height for items in collected.items.values())
    seeds = sorted({t.run.seed for t in collected.asked})
    biases = sorted({t.run.bias for t in collected.asked} - {"none"})
    wall = sum(r.content.get("wall_seconds", 0) for r in collected.records)
    memory = max((r.content.get("peak_memory_mb", 0) for r in collected.records), default=0)
    facts = [
        ("Models trained", f"{done} of {len(collected.asked)}",
         f"and {tables.counted(nulls, 'null')}"),
        ("Conditions", str(len(spec.conditions)), ", ".join(spec.conditions)),
        ("Sizes", str(len(layout.sizes)), ", ".join(layout.sizes)),
        ("Seeds", str(len(seeds)), ", ".join(map(str, seeds))),
        ("Biases", str(len(biases)), ", ".join(biases)) if biases else None,
        ("Minimal pairs", tables.count(pairs), ", ".join(spec.suites)),
        ("Computing time", tables.duration(wall), f"{len(collected.records)} jobs; "
         f"{memory:,.0f} MB at most") if wall else None,
    ]  # fmt: skip
    return [fact for fact in facts if fact]


def _suite(
    collected: Collected, layout: Layout, suite: str, shelf: Shelf, paths: Paths
) -> dict[str, Any]:
    rows = collected.accuracy.filter(pl.col("suite") == suite)
    items = collected.items[suite]
    found: dict[str, Any] = {
        "name": suite,
        "rows": rows.height or items.height,
        "pairs": tables.count(items.height),
        "examples": examples.of_items(items, layout.phenomena[suite]),
        "figure": None,
        "curves": curves.pictures(collected, layout, suite, shelf.picture),
        "published": None,
        "nulls": shelf.plain(benchmark.nulls(collected, layout, suite)),
        "quality": collected.quality[suite],
        "quality_link": link(
            Path(paths.quality(collected.spec.target, suite)) / "index.html", shelf.output
        ),
    }
    for kind, table in (
        ("categories", tables.table3(collected, layout, suite)),
        ("phenomena", tables.table8(collected, layout, suite)),
    ):
        shelf.table(table.name, tables.long(table), latex.accuracy(table))
        found[kind] = _grouped(table)
    if rows.height:
        caption = (
            "Accuracy by size. Lines: means over seeds; bands: ± 1 SD; hollow marks: untrained "
            "models; dashed: 50%."
        )
        found["figure"] = shelf.picture(
            f"accuracy-{suite}", caption, figures.accuracy, tables.points(collected, layout, suite)
        )
        found["published"] = shelf.plain(sections.published(collected, layout, suite))
    return found


def _measured(suite: str, task: str, frame: pl.DataFrame | None) -> tables.PlainTable | None:
    if frame is None:
        return None
    caption = f"Results on {suite} ({task}); the columns are explained in docs/data.md."
    return benchmark.measures(f"measures-{suite}", caption, frame)


def _grouped(table: tables.AccuracyTable) -> dict[str, Any]:
    """Return a table with its rows in bodies and its columns in groups, as HTML wants them."""
    return {
        "name": table.name,
        "caption": table.caption,
        "header": table.header,
        "grouped": any(group for group, _ in table.header),
        "groups": [(g, len(list(c))) for g, c in groupby(table.header, key=lambda c: c[0])],
        "bodies": [
            (group, [(label, cells) for _, label, cells in rows])
            for group, rows in groupby(table.rows, key=lambda row: row[0])
        ],
    }


def _model(collected: Collected, name: str, shelf: Shelf) -> dict[str, Any]:
    found: Fit | None = collected.fits.get(name)
    if found is None:
        return {"name": name, "formula": "", "table": None}
    diagnostics = found.diagnostics
    effects = tables.effects(found.summary)
    picture = None
    if not effects.is_empty():
        caption = (
            "Effects on the log-odds of a correct judgement: posterior medians with 95% intervals; "
            "hollow where the interval holds zero."
        )
        picture = shelf.picture(f"forest-{name}", caption, figures.forest, effects)
    shown = (
        ("Divergences", "divergences", tables.count, "0 to pass"),
        ("Largest R-hat", "max_r_hat", tables.decimals(3), "at most 1.01"),
        ("Smallest ESS", "min_ess", tables.count, "at least 400"),
        ("Pairs judged", "pairs", tables.count, ""),
        ("Rows of counts", "rows", tables.count, ""),
    )
    return {
        "name": name,
        "formula": diagnostics.get("formula") or found.spec.get("formula", ""),
        "table": shelf.plain(sections.fit(found)),
        "converged": diagnostics.get("converged", False),
        "reasons": "; ".join(diagnostics.get("reasons", [])) or "There are no diagnostics",
        "notes": diagnostics.get("notes", []),
        "figure": picture,
        "facts": [
            (label, show(diagnostics[key]), note)
            for label, key, show, note in shown
            if diagnostics.get(key) is not None
        ],
    }


def _downloads(
    collected: Collected, shelf: Shelf, paths: Paths
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield (what, links) of everything that can be taken away."""
    target = collected.spec.target
    statistics = Path(paths.statistics(target))
    groups: list[tuple[str, list[Path]]] = [
        ("Accuracies and counts", [statistics / f for f in (
            "accuracy.parquet", "accuracy.csv", "accuracy.tex", "counts.parquet")]),
        ("Learning curves and training", [Path(paths.curves(target)) / f"{f}.{kind}" for f in (
            "curves", "curves_mean", "training") for kind in ("parquet", "csv")]),
        *((f"Model {m}", [Path(paths.fit(target, m)) / f for f in (
            "posterior.nc", "summary.parquet", "summary.csv", "summary.tex", "diagnostics.json")])
          for m in collected.spec.models),
        *((f"Items of {s}", [Path(paths.items(s))]) for s in collected.spec.suites),
    ]  # fmt: skip
    for name, found in groups:
        links = [(p.name, link(p, shelf.output)) for p in found if p.is_file()]
        if links:
            yield name, links
    for folder, names in shelf.written.items():
        stems = sorted({Path(name).stem for name in names})
        for stem in stems:
            found = [n for n in names if Path(n).stem == stem]
            yield stem, [(Path(n).suffix[1:].upper(), f"{folder}/{n}") for n in found]
