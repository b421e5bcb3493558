"""Export results as a Workflow Run RO-Crate: an archive of results and their provenance.

Workflow Run Crate is a profile of RO-Crate (Leo et al. 2024, "Recording provenance of workflow runs
with RO-Crate", PLOS ONE 19): a folder with ``ro-crate-metadata.json``, in JSON-LD, which names the
workflow, the action that ran it, its inputs and its outputs. Our crate has the tables as a data
package, the report, and the manifest of each job without host, command line and folders. It does
not have models, corpora and items; ``poshgrid export models`` and ``items`` write these.
"""

from __future__ import annotations

import importlib.util
import mimetypes
import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from importlib.metadata import version
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid.core import files, resources
from poshgrid.core.errors import PoshgridError
from poshgrid.report.export import models, tables
from poshgrid.report.results import Results

if TYPE_CHECKING:
    from rocrate.model.entity import Entity
    from rocrate.rocrate import ROCrate

METADATA = "ro-crate-metadata.json"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}


def export(results: Results, output: Path, target: str | None, licence: str | None) -> Path:
    """Write a crate of a target's tables, report and manifests.

    Args:
        results: with the target.
        output: the folder.
        target: an experiment; default: ``all``, or the only one that has results.
        licence: SPDX name of the crate's licence (``CC-BY-4.0``); None: all rights reserved.

    Returns:
        The folder.

    Raises:
        PoshgridError: rocrate is not installed, the target is unknown, or a table has other
            columns.
    """
    if importlib.util.find_spec("rocrate") is None:
        raise PoshgridError(
            "rocrate is not installed; run: pip install -c constraints.txt 'poshgrid[crate]'"
        )
    from rocrate.rocrate import ROCrate

    name = results.target(target)
    with files.atomic_folder(output, last=METADATA) as temporary:
        crate = ROCrate(version="1.1")
        parts = temporary / "parts"
        tables.export(results, parts / "tables", target)
        if (report := Path(results.paths.report(name))).is_dir():
            kept = shutil.ignore_patterns("manifest.json", "*.parquet")
            shutil.copytree(report, parts / "report", ignore=kept)
        _describe(crate, name, licence)
        top = Path(results.paths.results)
        manifests = []
        for path in sorted(top.rglob("manifest.json")):
            manifests.append(models.provenance(path))
            record = "--".join(path.relative_to(top).parts)
            files.write_json(parts / "provenance" / record, manifests[-1])
        _run(crate, manifests, list(_add_files(crate, parts)), name)
        crate.write(temporary)
        shutil.rmtree(parts)
    return output


def _describe(crate: ROCrate, target: str, licence: str | None) -> None:
    """Add the name, description, licence and profiles of the crate."""
    crate.name = f"poshgrid: results of {target}"
    crate.description = (
        "Tables, report and provenance of a run of poshgrid: what language models learn of syntax "
        "with and without direct evidence."
    )
    crate.license = "All rights reserved"
    if licence:
        url = f"https://spdx.org/licenses/{licence}"
        crate.license = crate.add_jsonld({"@id": url, "@type": "CreativeWork", "name": licence})
    crate.root_dataset["conformsTo"] = [
        crate.add_jsonld({"@id": url, "@type": "CreativeWork", "name": title, "version": number})
        for url, (title, number) in PROFILES.items()
    ]


def _add_files(crate: ROCrate, parts: Path) -> Iterator[Entity]:
    """Add every file below a folder to the crate; yield the results."""
    for path in sorted(path for path in parts.rglob("*") if path.is_file()):
        inside = path.relative_to(parts).as_posix()
        described = {
            "name": inside,
            "encodingFormat": mimetypes.guess_type(path.name)[0] or "text/plain",
        }
        entity = crate.add_file(path, inside, properties=described, record_size=True)
        if not inside.startswith("provenance/"):
            yield entity


def _run(
    crate: ROCrate, manifests: list[dict[str, Any]], written: list[Entity], target: str
) -> None:
    """Add the workflow and the action that ran it: when, and on which target."""
    workflow = crate.add_workflow(
        resources.shipped("Snakefile"), "Snakefile", main=True, lang="snakemake",
        lang_version=version("snakemake"),
        properties={
            "name": "poshgrid", "version": version("poshgrid"), "encodingFormat": "text/plain",
            "url": "https://pypi.org/project/poshgrid/",
        },
    )  # fmt: skip
    parameter = crate.add_formal_parameter("target", "Text", identifier="#parameter-target")
    workflow["input"] = parameter
    asked = crate.add_jsonld({
        "@id": "#target", "@type": "PropertyValue", "name": "target", "value": target,
        "exampleOfWork": {"@id": parameter.id},
    })  # fmt: skip
    starts = [datetime.fromisoformat(manifest["started"]) for manifest in manifests]
    spans = [timedelta(seconds=manifest["wall_seconds"]) for manifest in manifests]
    action = crate.add_action(
        workflow, identifier="#run", object=asked, result=written,
        properties={
            "name": f"poshgrid run {target}",
            "description": "All jobs of the results, from the first to the last",
            "startTime": min(starts).isoformat(timespec="seconds"),
            "endTime": max(map(add, starts, spans)).isoformat(timespec="seconds"),
            "actionStatus": "http://schema.org/CompletedActionStatus",
        },
    )  # fmt: skip
    crate.root_dataset.append_to("mentions", action)
