"""The page of a target: one HTML file that stands alone, its tables and figures beside it."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any

from poshgrid import files, logs
from poshgrid.config import specs
from poshgrid.config.paths import Paths
from poshgrid.report import blocks, style, warnings
from poshgrid.report.collect import gather
from poshgrid.report.layout import lay_out
from poshgrid.report.shelf import Shelf
from poshgrid.tables.words import counted

log = logs.get(__name__)


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
    text = render(blocks.Page(collected, lay_out(collected), shelf, Paths(str(results))))
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


def render(page: blocks.Page) -> str:
    """Return the page's HTML; write its figures and tables on the way."""
    from markupsafe import Markup

    environment = html()
    loader = environment.loader
    assert loader is not None
    css = style.css_variables() + loader.get_source(environment, "page.css")[0]
    phenomena = {p for found in page.layout.phenomena.values() for _, p in found}
    study = page.collected.spec.study
    opens = study.opens if study else []
    made = [
        (word, module, found)
        for word, module in blocks.sections(opens).items()
        if (found := module.blocks(page)) is not None
    ]
    return environment.get_template("page.html").render(
        css=Markup(css),
        spec=page.collected.spec,
        heading=f"{counted(len(page.collected.asked), 'language model')}, "
        f"{counted(len(phenomena), 'phenomenon', 'phenomena')}",
        sections=made,
        opens=opens,
        warnings=warnings.warnings(page.collected),
        version=importlib.metadata.version("poshgrid"),
    )


def html() -> Any:  # noqa: ANN401 - jinja2 is imported late
    """Return the environment that knows the page's templates."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("poshgrid", "report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals["kind_of"] = lambda block: type(block).__name__
    return environment
