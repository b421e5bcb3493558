"""Trained models as folders that the Hugging Face Hub shows: weights, tokenizer and a card.

The card holds what a reader of the weights must know: accuracies beside baselines, the corpora and
their licences, and what made the model. ``provenance.json`` is the run's manifest without what
tells of the machine and its user: host, command line, folders.

For BabyLM a folder also has one of each milestone, ``chck_1M`` ..., as the challenge names them;
and its tokenizer puts the boundary before a text, so that its evaluation scores the first word.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from poshgrid import files, verification
from poshgrid.analysis.results import Results
from poshgrid.config.runs import AXES, BASELINE_RECIPES, BASELINES, SCORED, Run, agrees
from poshgrid.corpora import catalogue, toy
from poshgrid.errors import PoshgridError
from poshgrid.export import card
from poshgrid.statistics import levels
from poshgrid.statistics.schema import RUN_AXES
from poshgrid.tokenization.tokenizer import BOUNDARY
from poshgrid.training.builder import TOKENIZER_FILES
from poshgrid.training.masking import MASK

PROVENANCE = "provenance.json"
_KEPT = (
    "spec", "settings", "code", "packages", "python", "started", "wall_seconds", "device", "gpu",
)  # fmt: skip
"""Of a manifest: what tells nothing of the machine's owner."""
_LEFT = ("checkpoints", "manifest.json")
"""Of a model's folder: what is not copied as it is."""


def milestones(results: Results, run: Run) -> dict[str, int]:
    """Return the milestones of BabyLM that a trained run has kept: "1M" -> step."""
    statistics = results.model(run) / "statistics.json"
    return files.read_json(statistics).get("milestones", {}) if statistics.is_file() else {}


def chosen(results: Results, kept: dict[str, set[str]], *, babylm: bool = False) -> list[Run]:
    """Return the runs whose models are exported.

    Args:
        results: that hold them.
        kept: axis -> values (:func:`poshgrid.config.runs.parse_only`). Baselines are not exported.
        babylm: only runs with milestones.

    Raises:
        PoshgridError: there are none.
    """
    runs = [
        run
        for run in results.names
        if agrees(run, kept)
        and run.recipe not in (*BASELINE_RECIPES, *SCORED)
        and (results.model(run) / "config.json").is_file()
        and (not babylm or milestones(results, run))
    ]
    if not runs and babylm:
        raise PoshgridError(
            f"{results.paths.all_models()}: no model has BabyLM's milestones; give its recipe "
            "`checkpoints: babylm`, and a million words to see; see --only"
        )
    if not runs:
        raise PoshgridError(f"{results.paths.all_models()}: no trained model to export; see --only")
    return runs


def name_of(run: Run) -> str:
    """Return a run's name as the Hub allows it: ``baby-f-10M-gpt2-mini-packed-none-seed42``."""
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
        results: that hold the models.
        runs: whose.
        output: parent of the folders.
        target: whose accuracies stand in the cards.
        licence: of the models, as the Hub spells it (``cc-by-nc-sa-4.0``); none: none is stated.
        babylm: with the weights of the milestones, and a tokenizer that begins texts.

    Raises:
        PoshgridError: two runs whose names would be one, a model is not whole, or a folder cannot
            be written.
    """
    names: dict[str, Run] = {}
    for run in runs:
        _alone(run, names.setdefault(name_of(run), run).name)
        record = output / name_of(run) / PROVENANCE
        _alone(run, files.read_json(record).get("run", run.name) if record.is_file() else run.name)
    shares = levels.by_level(results.table("counts", target).collect(), [*AXES, "suite"])
    baselines = results.accuracy(target).filter(level="phenomenon").collect()
    written = []
    for name, run in names.items():
        source = results.model(run)
        verification.check(source.rglob("*") if babylm else source.iterdir())
        with files.atomic_folder(output / name, last="README.md") as temporary:
            for path in sorted(source.iterdir()):
                if path.is_file() and path.name not in _LEFT:
                    shutil.copyfile(path, temporary / path.name)
            if babylm:
                _begin_texts(temporary)
                for milestone, step in milestones(results, run).items():
                    _milestone(source / "checkpoints" / str(step), temporary, f"chck_{milestone}")
            files.write_json(
                temporary / PROVENANCE, {"run": run.name, **provenance(source / "manifest.json")}
            )
            point = {axis: getattr(run, axis) for axis in RUN_AXES}
            mine, beside = shares.filter(seed=run.seed, **point), baselines.filter(**point)
            text = _card(results, run, mine, beside, licence, babylm=babylm)
            files.write_text(temporary / "README.md", text)
        written.append(output / name)
    return written


def _begin_texts(folder: Path) -> None:
    """Have a folder's tokenizer put the boundary before a text; a masked model's has a template."""
    from tokenizers import Tokenizer, processors

    path = folder / TOKENIZER_FILES[0]
    tokenizer = Tokenizer.from_file(str(path))
    if tokenizer.token_to_id(MASK) is None:
        boundary = (BOUNDARY, tokenizer.token_to_id(BOUNDARY))
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{BOUNDARY} $A", pair=f"{BOUNDARY} $A $B:1", special_tokens=[boundary]
        )
        tokenizer.save(str(path), pretty=True)


def _milestone(source: Path, folder: Path, name: str) -> None:
    """Copy the weights of a step into a folder of their own, with the tokenizer."""
    shutil.copytree(source, folder / name)
    for file in TOKENIZER_FILES:
        shutil.copyfile(folder / file, folder / name / file)


def _alone(run: Run, there: str) -> None:
    """Refuse a run whose folder is another's: ``a-b/c`` and ``a/b-c`` have one name on the Hub."""
    if there != run.name:
        raise PoshgridError(
            f"{name_of(run)}: the name of {there} and of {run.name} on the Hub; export them with "
            "--only and --output apart, and give one repository another name"
        )


def provenance(path: Path) -> dict[str, Any]:
    """Return a manifest without what tells of the machine and its user."""
    manifest = files.read_json(path)
    facts = {key: manifest[key] for key in _KEPT if key in manifest}
    # Names of files, not the folders that they lay in
    inputs, outputs = (
        {Path(path).name: digest for path, digest in manifest.get(kind, {}).items()}
        for kind in ("inputs", "outputs")
    )
    outputs = {name: digest for name, digest in outputs.items() if name not in _LEFT}
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
    from huggingface_hub import EvalResult, ModelCardData

    model = results.model(run)
    (family,) = files.read_json(model / "config.json")["architectures"]
    masked = family.endswith("ForMaskedLM")
    task = "fill-mask" if masked else "text-generation"
    beside = baselines.select("suite", "phenomenon", *BASELINES)
    phenomena = (
        shares.filter(level="phenomenon")
        .join(beside, on=["suite", "phenomenon"], how="left")
        .sort("suite", "category", "phenomenon")
        .to_dicts()
    )
    head = ModelCardData(
        library_name="transformers",
        pipeline_tag=task,
        language="en",
        tags=["poshgrid", "poverty-of-the-stimulus", "language-acquisition", *["babylm"] * babylm],
        license=licence,
        model_name=name_of(run),
        eval_results=[
            EvalResult(
                task_type=task, dataset_type=row["suite"],
                dataset_name=row["suite"], dataset_config=row["phenomenon"],
                metric_type="accuracy", metric_value=round(row["accuracy"], 6),
            )
            for row in phenomena
        ]
        or None,
    )  # fmt: skip
    statistics = Path(results.paths.condition(run.condition, run.size)) / "statistics.json"
    facts = files.read_json(statistics) if statistics.is_file() else {}
    sources = facts["splits"]["train"].get("sources", {}) if facts else {}
    return card(
        "model", run=run, facts_of_training=files.read_json(model / "statistics.json"),
        own_code=any(model.glob("*.py")), head=head.to_yaml(), masked=masked, accuracies=phenomena,
        overall=shares.filter(level="overall").sort("suite").to_dicts(), facts=facts,
        toys=[source for source in sources if _made_up(results, source)], notice=toy.NOTICE,
        known={entry.name: entry for entry in catalogue.manifest().sources}, licence=licence,
        provenance=PROVENANCE, milestones=milestones(results, run) if babylm else {},
    )  # fmt: skip


def _made_up(results: Results, source: str) -> bool:
    """Say whether the toy grammar made a source's sentences."""
    manifest = Path(results.paths.source(source)).with_name("manifest.json")
    return manifest.is_file() and toy.made(files.read_json(manifest))
