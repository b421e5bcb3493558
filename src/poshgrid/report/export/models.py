"""Export trained models as folders for the Hugging Face Hub: weights, tokenizer and a card.

The card says what a user of the weights must know: accuracies with baselines, the corpora and their
licences, and the provenance. ``provenance.json`` is the run's manifest without facts about the
machine and its user (host, command line, folders).

For BabyLM there is also a folder for each milestone, with the challenge's names (``chck_1M`` ...);
and the tokenizer puts the boundary before a text, so that the challenge's evaluation scores the
first word.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid.config.runs import AXES, BASELINE_RECIPES, BASELINES, SCORED, Run, agrees
from poshgrid.core import files, verification
from poshgrid.core.errors import PoshgridError
from poshgrid.corpora import catalogue, toy
from poshgrid.models.tokenization.tokenizer import BOUNDARY
from poshgrid.models.training.builder import TOKENIZER_FILES
from poshgrid.report.export import card
from poshgrid.report.results import Results
from poshgrid.statistics import levels
from poshgrid.statistics.schema import RUN_AXES

PROVENANCE = "provenance.json"
_SHARED_KEYS = (
    "spec", "settings", "code", "packages", "python", "started", "wall_seconds", "device", "gpu",
)  # fmt: skip
"""Keys of a manifest that say nothing about the machine's owner."""
_NOT_COPIED = ("checkpoints", "manifest.json")
"""Parts of a model's folder that are not copied."""


def milestones(results: Results, run: Run) -> dict[str, int]:
    """Return the milestones of BabyLM that a trained run has: "1M" -> step."""
    statistics = results.model(run) / "statistics.json"
    return files.read_json(statistics).get("milestones", {}) if statistics.is_file() else {}


def chosen(results: Results, kept: dict[str, set[str]], *, babylm: bool = False) -> list[Run]:
    """Return the runs whose models are exported.

    Args:
        results: with the runs.
        kept: axis -> values (:func:`poshgrid.config.runs.parse_only`). Baselines are not exported.
        babylm: whether to export only runs with milestones.

    Raises:
        PoshgridError: no run is left.
    """
    runs = [
        run
        for run in results.names
        if agrees(run, kept)
        and run.recipe not in (*BASELINE_RECIPES, *SCORED)
        and (results.model(run) / "config.json").is_file()
        and (not babylm or milestones(results, run))
    ]
    if not runs:
        asked = "trained model to export"
        if babylm:
            asked = "model with BabyLM's milestones (recipe: `checkpoints: babylm`, 1M words)"
        raise PoshgridError(f"{results.paths.all_models()}: no {asked}; see --only")
    return runs


def name_of(run: Run) -> str:
    """Return a run's name for the Hub: ``baby-f-10M-gpt2-mini-packed-none-seed42``."""
    return re.sub(r"[^\w.-]", "-", run.name.replace("/", "-"))


def export(
    results: Results,
    runs: Sequence[Run],
    output: Path,
    *,
    target: str | None,
    licence: str | None,
    babylm: bool = False,
) -> list[Path]:
    """Write a folder for each run.

    Args:
        results: with the models.
        runs: the runs to export.
        output: parent of the folders.
        target: its accuracies are in the cards.
        licence: the Hub's name of the models' licence (``cc-by-nc-sa-4.0``); None: not stated.
        babylm: whether to add the weights of the milestones, and a boundary before texts to the
            tokenizer.

    Raises:
        PoshgridError: two runs would have the same name, a model is incomplete, or a folder cannot
            be written.
    """
    names: dict[str, Run] = {}
    for run in runs:
        _check_unique(run, names.setdefault(name_of(run), run).name)
        record = output / name_of(run) / PROVENANCE
        if record.is_file():
            _check_unique(run, files.read_json(record).get("run", run.name))
    shares = levels.by_level(results.table("counts", target).collect(), [*AXES, "suite"])
    baselines = results.table("accuracy", target).filter(level="phenomenon").collect()
    written = []
    for name, run in names.items():
        source = results.model(run)
        verification.check(source.rglob("*") if babylm else source.iterdir())
        with files.atomic_folder(output / name, last="README.md") as temporary:
            for path in sorted(source.iterdir()):
                if path.is_file() and path.name not in _NOT_COPIED:
                    shutil.copyfile(path, temporary / path.name)
            if babylm:
                _begin_texts(temporary)
                for milestone, step in milestones(results, run).items():
                    folder = temporary / f"chck_{milestone}"
                    shutil.copytree(source / "checkpoints" / str(step), folder)
                    for file in TOKENIZER_FILES:
                        shutil.copyfile(temporary / file, folder / file)
            files.write_json(
                temporary / PROVENANCE, {"run": run.name, **provenance(source / "manifest.json")}
            )
            point = {axis: getattr(run, axis) for axis in RUN_AXES}
            text = _card(
                results, run, shares.filter(seed=run.seed, **point), baselines.filter(**point),
                licence, babylm=babylm,
            )  # fmt: skip
            files.write_text(temporary / "README.md", text)
        written.append(output / name)
    return written


def _begin_texts(folder: Path) -> None:
    """Make a folder's tokenizer put the boundary before a text.

    One that adds special tokens already, as that of a masked model, is not changed.
    """
    from tokenizers import Tokenizer, processors

    path = folder / TOKENIZER_FILES[0]
    tokenizer = Tokenizer.from_file(str(path))
    if not tokenizer.encode("").ids:
        boundary = (BOUNDARY, tokenizer.token_to_id(BOUNDARY))
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{BOUNDARY} $A", pair=f"{BOUNDARY} $A $B:1", special_tokens=[boundary]
        )
        tokenizer.save(str(path), pretty=True)


def _check_unique(run: Run, existing: str) -> None:
    """Raise if another run has the same name on the Hub, as ``a-b/c`` and ``a/b-c``."""
    if existing != run.name:
        raise PoshgridError(
            f"{name_of(run)}: the name of both {existing} and {run.name} on the Hub; export them "
            "separately, with --only and --output, and give one repository another name"
        )


def provenance(path: Path) -> dict[str, Any]:
    """Return a manifest without facts about the machine and its user."""
    manifest = files.read_json(path)
    facts = {key: manifest[key] for key in _SHARED_KEYS if key in manifest}
    # Names of files without their folders
    inputs, outputs = (
        {Path(path).name: digest for path, digest in manifest.get(kind, {}).items()}
        for kind in ("inputs", "outputs")
    )
    outputs = {name: digest for name, digest in outputs.items() if name not in _NOT_COPIED}
    return {**facts, "inputs": inputs, "outputs": outputs}


# ---- the card --------------------------------------------------------------------------------


def _card(
    results: Results,
    run: Run,
    shares: pl.DataFrame,
    baselines: pl.DataFrame,
    licence: str | None,
    *,
    babylm: bool,
) -> str:
    from huggingface_hub import ModelCardData

    model = results.model(run)
    (family,) = files.read_json(model / "config.json")["architectures"]
    masked = family.endswith("ForMaskedLM")
    of_baselines = baselines.select("suite", "phenomenon", *BASELINES)
    phenomena = (
        shares.filter(level="phenomenon")
        .join(of_baselines, on=["suite", "phenomenon"], how="left")
        .sort("suite", "category", "phenomenon")
        .to_dicts()
    )
    head = ModelCardData(
        library_name="transformers",
        pipeline_tag="fill-mask" if masked else "text-generation",
        language="en",
        tags=["poshgrid", "poverty-of-the-stimulus", "language-acquisition", *["babylm"] * babylm],
        license=licence,
    )
    statistics = Path(results.paths.condition(run.condition, run.size)) / "statistics.json"
    facts = files.read_json(statistics) if statistics.is_file() else {}
    sources = facts["splits"]["train"].get("sources", {}) if facts else {}
    return card(
        "model", run=run, facts_of_training=files.read_json(model / "statistics.json"),
        own_code=any(model.glob("*.py")), head=head.to_yaml(), masked=masked, accuracies=phenomena,
        overall=shares.filter(level="overall").sort("suite").to_dicts(), facts=facts,
        toys=[source for source in sources if _is_toy(results, source)], notice=toy.NOTICE,
        known={entry.name: entry for entry in catalogue.manifest().sources}, licence=licence,
        provenance=PROVENANCE, milestones=milestones(results, run) if babylm else {},
    )  # fmt: skip


def _is_toy(results: Results, source: str) -> bool:
    """Return whether the toy grammar made a source's sentences."""
    manifest = Path(results.paths.source(source)).with_name("manifest.json")
    return manifest.is_file() and toy.made(files.read_json(manifest))
