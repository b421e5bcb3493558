"""The manifests that the page rests on, and the versions of packages that they name."""

from __future__ import annotations

from markupsafe import Markup

from poshgrid.report.blocks import Block, Fold, Page
from poshgrid.report.records import Record
from poshgrid.tables.words import ABSENT, duration

TITLE, ORDER, AUDIENCE = "Provenance", 170, "engineer"
_HEAD = Markup(
    '<div class="scroll" tabindex="0" role="region" aria-label="{}"><table><thead><tr>'
    '<th scope="col" class="pin">Manifest</th><th scope="col">Started</th>'
    '<th scope="col" class="n">Wall time</th><th scope="col" class="n">Peak memory</th>'
    '<th scope="col">Host</th><th scope="col">Code</th></tr></thead><tbody>{}</tbody></table></div>'
)
_ROW = Markup(
    '<tr><th scope="row" class="pin">{} <code>{}</code></th><td>{}</td><td class="n">{}</td>'
    '<td class="n">{}</td><td>{}</td><td><code>{}</code></td></tr>'
)
_VERSIONS = Markup(
    '<div class="scroll" tabindex="0" role="region" aria-label="Versions"><table><tbody>{}</tbody>'
    "</table></div>"
)
_VERSION = Markup('<tr{}><th scope="row" class="pin">{}</th><td>{}</td></tr>')


def blocks(page: Page) -> list[Block]:
    """Return a drawer for each stage, and one for the versions of packages."""
    by_stage: dict[str, list[Record]] = {}
    for record in page.collected.records:
        by_stage.setdefault(record.stage, []).append(record)
    found: list[Block] = [
        "Every result has a manifest: its command line, configuration, code fingerprint, input "
        "digests, package versions, host, time and memory."
    ]
    for stage, records in by_stage.items():
        rows = Markup("\n").join(map(_row, records))
        table = _HEAD.format(f"Manifests of {stage}", rows)
        found.append(Fold(stage, f"({len(records)})", [table]))
    if not by_stage:
        found.append("No manifests yet.")
    packages = page.collected.packages
    if packages:
        mixed = Markup(' class="flag"')
        rows = Markup("").join(
            _VERSION.format(mixed if len(versions) > 1 else "", name, ", ".join(versions))
            for name, versions in packages.items()
        )
        found.append(Fold("Versions", f"({len(packages)} packages)", [_VERSIONS.format(rows)]))
    return found


def _row(record: Record) -> Markup:
    m = record.content
    return _ROW.format(
        record.name,
        record.place,
        str(m.get("started", ABSENT)).replace("T", " ").replace("+00:00", " UTC"),
        duration(m["wall_seconds"]) if "wall_seconds" in m else ABSENT,
        f"{m['peak_memory_mb']:,.0f} MB" if "peak_memory_mb" in m else ABSENT,
        m.get("host", ABSENT),
        m.get("code", "") or ABSENT,
    )
