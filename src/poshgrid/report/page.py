"""The page of a target: one HTML file that stands alone, its tables and figures beside it."""

from __future__ import annotations

import importlib.metadata
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import files, logs
from poshgrid.grid import specs
from poshgrid.grid.paths import Paths
from poshgrid.report import (
    across,
    audits,
    benchmark,
    children,
    collateral,
    corpora,
    costs,
    curves,
    deltas,
    downloads,
    evidence,
    examples,
    figures,
    frames,
    headlines,
    methods,
    model,
    plain,
    recall,
    references,
    rules,
    sections,
    style,
    tables,
)
from poshgrid.report.collect import Collected, gather
from poshgrid.report.layout import Layout, lay_out
from poshgrid.report.records import link
from poshgrid.report.shelf import Shelf

log = logs.get(__name__)

SECTIONS = (
    ("findings", "Findings"),
    ("accuracy", "Accuracy"),
    ("rules", "Which rule models follow"),
    ("children", "Children and models"),
    ("across", "Across benchmarks"),
    ("model", "Bayesian models"),
    ("filtering", "What filtering changes"),
    ("corpora", "Corpora"),
    ("parsing", "Parsing and evidence"),
    ("collateral", "What was removed, and what went with it"),
    ("audits", "Filter audit"),
    ("runs", "Runs"),
    ("items", "Benchmark"),
    ("tasks", "Other tasks"),
    ("costs", "Time and cost"),
    ("methods", "Methods"),
    ("provenance", "Provenance"),
    ("downloads", "Downloads"),
)


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
    losses = frames.curves(collected, layout)
    learning = None
    if not losses.is_empty():
        caption = (
            "Loss on the dev split during training, from the first evaluation after the start; one "
            "line for each seed."
        )
        learning = shelf.picture("learning-curves", caption, figures.learning, losses)
    listed = {
        "grid": sections.grid(collected, layout),
        "words_by_source": corpora.words_by_source(collected, layout),
        "conditions": corpora.conditions(collected, layout),
        "tokens": corpora.tokens(collected, layout),
        "vocabularies": corpora.vocabularies(collected, layout),
        "parsers": evidence.parsers(collected),
        "recall": recall.recall(collected),
        "recall_constructions": recall.constructions(collected),
        "screening": evidence.screening(collected),
        "agreement": evidence.agreement(collected),
        "removed": evidence.removed(collected, layout),
        "words_difference": evidence.words_difference(collected, layout),
        "learners": curves.learners(collected),
        "runs": sections.runs(collected),
    }
    # Sections that a target need not have
    optional = {
        "rules": rules.section(collected, layout, shelf, paths),
        "children": children.section(collected, layout, shelf),
        "across": across.section(collected, layout, shelf),
        "filtering": deltas.section(collected, shelf),
        "collateral": collateral.section(collected, shelf, paths),
    }
    written = methods.write_up(collected, layout)
    phenomena = {p for found in layout.phenomena.values() for _, p in found}
    models = len(collected.asked)
    return environment.get_template("page.html").render(
        css=Markup(css),
        spec=spec,
        heading=f"{plain.counted(models, 'language model')}, "
        f"{plain.counted(len(phenomena), 'phenomenon', 'phenomena')}",
        sections=[each for each in SECTIONS if optional.get(each[0], True)],
        warnings=headlines.warnings(collected),
        facts=_facts(collected, layout),
        findings=headlines.findings(collected, layout),
        suites=suites,
        averages=curves.average_picture(collected, layout, shelf.picture),
        ramp=[0.0, 0.25, 0.5, 0.75, 1.0],
        models=[model.section(collected, name, shelf) for name in spec.models],
        tables={name: shelf.plain(table) for name, table in listed.items()},
        learning=learning,
        tasks=[
            (suite, task, shelf.plain(_measured(suite, task, collected.measures.get(suite))))
            for suite, task in spec.measured.items()
        ],
        **optional,
        audits=audits.section(collected, shelf, paths),
        costs=costs.section(collected, shelf),
        methods=[text for _, text in written.parts],
        references=written.works,
        bibliography=references.write(written.works, shelf),
        provenance=sections.provenance(collected),
        packages=collected.packages,
        version=importlib.metadata.version("poshgrid"),
        downloads=list(downloads.groups(collected, shelf, paths)),
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
         f"and {plain.counted(nulls, 'null')}"),
        ("Conditions", str(len(spec.conditions)), ", ".join(spec.conditions)),
        ("Sizes", str(len(layout.sizes)), ", ".join(layout.sizes)),
        ("Seeds", str(len(seeds)), ", ".join(map(str, seeds))),
        ("Biases", str(len(biases)), ", ".join(biases)) if biases else None,
        ("Minimal pairs", plain.count(pairs), ", ".join(spec.suites)),
        ("Computing time", plain.duration(wall), f"{len(collected.records)} jobs; "
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
        "pairs": plain.count(items.height),
        "examples": examples.of_items(items, layout.phenomena[suite]),
        "figure": None,
        "curves": curves.pictures(collected, layout, suite, shelf.picture),
        "published": None,
        "published_phenomena": None,
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
        shelf.accuracy(table)
        found[kind] = _grouped(table)
    if rows.height:
        caption = (
            "Accuracy by size. Lines: means over seeds; bands: ± 1 SD; small marks: nulls; dashed: "
            "50%."
        )
        found["figure"] = shelf.picture(
            f"accuracy-{suite}", caption, figures.accuracy, frames.points(collected, layout, suite)
        )
        found["published"] = shelf.plain(sections.published(collected, layout, suite))
        more = sections.published(collected, layout, suite, table=8)
        found["published_phenomena"] = shelf.plain(more)
    return found


def _measured(suite: str, task: str, frame: pl.DataFrame | None) -> plain.PlainTable | None:
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
