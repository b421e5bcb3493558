"""The page of a target: one HTML file that needs no others, and files of its tables and figures.

Warnings come before the numbers: what is missing, without effect, or has not converged.
"""

from __future__ import annotations

import importlib.metadata
import importlib.resources
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markupsafe import Markup

from poshgrid.config import specs
from poshgrid.core import files, formats, logs
from poshgrid.core.writing import counted, listed
from poshgrid.corpora import conservation, toy
from poshgrid.report import parts, style
from poshgrid.report.collect import Collected
from poshgrid.report.texts import environment, say
from poshgrid.statistics.schema import EXPOSURE

log = logs.get(__name__)


def warnings(collected: Collected) -> Iterator[tuple[str, str]]:
    """Yield the warnings at the top of the page: (title, explanation)."""
    spec, fits = collected.spec, collected.fits
    toys = [record.name for record in collected.records
            if record.kind == "sources" and toy.made(record.content)]  # fmt: skip
    facts: dict[str, list[Any]] = {
        "Toy text": [f"{listed(toys)}: {toy.NOTICE}"] if toys else [],
        "Overridden checks": list(allowed(collected)),
        "Incomplete": [t.run.name for t in collected.trained if not t.done],
        "No accuracies": spec.suites if collected.accuracy.is_empty() else [],
        "No contrast": list(void(collected)),
        "Not converged": [(name, fit.diagnostics.get("reasons") or ["no diagnostics"])
                          for name, fit in fits.items() if not fit.converged],
        "Models missing": [model for model in spec.regressions if model not in fits],
        "Mixed versions": [f"{name}: {', '.join(versions)}"
                           for name, versions in collected.packages.items() if versions[1:]],
    }  # fmt: skip
    for what, cases in facts.items():
        if cases:
            yield f"{what}.", say("warning", what, cases, len(collected.trained))


def allowed(collected: Collected) -> Iterator[str]:
    """Yield the message of each check of the text that the key ``allow`` has overridden."""
    read = (record.content for record in collected.records if record.kind == "sources")
    for statistics in (*read, *collected.corpora.values(), *collected.conditions.values()):
        yield from statistics.get("allowed", {}).values()
    numbers: dict[str, dict[str, float]] = {}
    for corpus, statistics in collected.corpora.items():
        for size, facts in statistics.get("train", {}).items():
            if what := conservation.misnamed(f"corpus {corpus}", size, facts["words"]):
                yield what
            for (condition, of), cell in collected.conditions.items():
                if of == size and cell.get("corpus") == corpus:
                    kept = cell.get("downsample", 1)
                    share = kept if kept <= 1 else kept / facts["sentences"]
                    numbers.setdefault(size, {})[condition] = facts["words"] * share
    for size, words_of in numbers.items():
        if what := conservation.uneven(size, words_of):
            yield what


def void(collected: Collected) -> Iterator[str]:
    """Yield a sentence for each filter without effect, and for each set of equal conditions."""
    same: dict[tuple[str, str, str], list[str]] = {}
    for (condition, size), statistics in collected.conditions.items():
        where = f"{condition} at {size}"
        for word, counts in statistics.get("removed", {}).items():
            if counts.get("never"):
                never = ", ".join(counts["never"])
                yield (
                    f"{where}: filter {word} looks for {never}, which no tree of its parser has "
                    f"(by the rest of its rule it removed {counts.get('rule', 0):,} sentences)"
                )
            elif not counts.get("rule") and not counts.get("backstop"):
                yield f"{where}: filter {word} removes nothing"
        for word, facts in statistics.get("reinserted", {}).items():
            if not facts.get("sentences"):
                yield f"{where}: none of what {word} removes is put back"
        if statistics.get("digest"):
            key = (statistics.get("corpus", ""), size, statistics["digest"])
            same.setdefault(key, []).append(condition)
    for (_, size, _), names in same.items():
        if len(names) > 1:
            yield f"{' and '.join(sorted(names))} have the same training sentences at {size}"


def write(spec: specs.ReportSpec, results: Path, output: Path) -> dict[str, Any]:
    """Write ``index.html``, ``figures/`` (PDF, PNG) and ``tables/`` (CSV) of a target.

    Results that do not exist are left out or shown as "not run". Equal results give an equal page.

    Args:
        spec: the part of the configuration that the page shows.
        results: the results folder.
        output: the page's folder.

    Returns:
        Names of figures and tables, numbers of models and of missing models, and the page's bytes.

    Raises:
        PoshgridError: a file of the results is broken, or the folder cannot be written.
    """
    output = Path(output)
    page = parts.Page(Collected(spec, results), output)
    text = render(page)
    collected = page.collected
    formats.write(collected.exposure, output, "exposure", EXPOSURE)
    files.write_text(output / "index.html", text)
    page.clear_stale()
    missing = sum(not t.done for t in collected.trained)
    if missing:
        log.warning("%s: %d of %d models are missing", spec.target, missing, len(collected.trained))
    log.info("%s", output / "index.html")
    return {
        "figures": sorted(page.written["figures"]),
        "tables": sorted(page.written["tables"]),
        "models": len(collected.trained),
        "missing": missing,
        "bytes": len(text.encode()),
    }


def render(page: parts.Page) -> str:
    """Write the figures and tables of the page; return its HTML."""
    collected = page.collected
    css = (importlib.resources.files("poshgrid.report") / "page.css").read_text("utf-8")
    phenomena = {p for pairs in page.layout.phenomena.values() for _, p in pairs} or {
        p for frame in collected.measures.values() for p in frame["phenomenon"].drop_nulls()
    }  # without minimal pairs, those of the other tasks
    models = counted(len(collected.without_baselines), "language model")
    counts = f"{models}, {counted(len(phenomena), 'phenomenon', 'phenomena')}"
    study = collected.spec.study
    opens = study.opens if study else []
    sections = [
        (word, module, html)
        for word, module in parts.sections(opens).items()
        if (html := page.section(module))
    ]
    template = environment().get_template("page.html")
    return str(
        template.render(
            css=Markup(style.css_variables() + css),
            spec=collected.spec,
            study=study,
            title=(study and study.title) or counts,
            counts=counts,
            sections=sections,
            opens=opens,
            warnings=list(warnings(collected)),
            version=importlib.metadata.version("poshgrid"),
        )
    )
