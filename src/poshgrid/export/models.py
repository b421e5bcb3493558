"""Trained models as folders that the Hugging Face Hub shows: weights, tokenizer and a card.

The card holds what a reader of the weights must know: accuracies beside nulls, the corpora and
their licences, and what made the model. ``provenance.json`` is the run's manifest without what
tells of the machine and its user: host, command line, folders.
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
from poshgrid.config.runs import AXES, COUNTED, SCORED, UNTRAINED, Run, agrees
from poshgrid.corpora import catalogue, toy
from poshgrid.errors import PoshgridError
from poshgrid.statistics import levels
from poshgrid.statistics.schema import RUN_AXES

PROVENANCE = "provenance.json"
_TOLD = (
    "spec", "settings", "code", "packages", "python", "started", "wall_seconds", "device", "gpu",
)  # fmt: skip
"""Of a manifest: what tells nothing of the machine's owner."""
_LEFT = ("checkpoints", "manifest.json", "README.md")
"""Of a model's folder: what is not copied as it is."""


def chosen(results: Results, kept: dict[str, set[str]]) -> list[Run]:
    """Return the runs whose models are exported.

    Args:
        results: that hold them.
        kept: axis -> values (:func:`poshgrid.config.runs.parse_only`). Untrained nulls are among
            them if their regimen is asked for; n-gram nulls are no models of the Hub.

    Raises:
        PoshgridError: there are none.
    """
    wanted = kept.get("regimen", set())
    found = [
        run
        for run in results.names
        if agrees(run, kept)
        and run.regimen not in (COUNTED, *SCORED)
        and (run.regimen != UNTRAINED or UNTRAINED in wanted)
        and (results.model(run) / "config.json").is_file()
    ]
    if not found:
        raise PoshgridError(f"{results.paths.all_models()}: no trained model to export; see --only")
    return found


def name_of(run: Run) -> str:
    """Return a run's name as the Hub allows it: ``baby-f-10M-gpt2-mini-packed-none-seed42``."""
    return re.sub(r"[^\w.-]", "-", run.name.replace("/", "-"))


def export(
    results: Results, runs: Sequence[Run], output: Path, *, target: str | None, licence: str | None
) -> list[Path]:
    """Write a folder for each run.

    Args:
        results: that hold the models.
        runs: whose.
        output: parent of the folders.
        target: whose accuracies stand in the cards.
        licence: of the models, as the Hub spells it (``cc-by-nc-sa-4.0``); none: none is stated.

    Raises:
        PoshgridError: two runs whose names would be one, a model is not whole, or a folder cannot
            be written.
    """
    names: dict[str, Run] = {}
    for run in runs:
        _alone(run, names.setdefault(name_of(run), run).name)
        told = output / name_of(run) / PROVENANCE
        _alone(run, files.read_json(told).get("run", run.name) if told.is_file() else run.name)
    shares = levels.by_level(results.table("counts", target).collect(), [*AXES, "suite"])
    nulls = results.accuracy(target).filter(level="phenomenon").collect()
    written = []
    for name, run in names.items():
        source = results.model(run)
        verification.check(source.iterdir())
        with files.atomic_folder(output / name, last="README.md") as temporary:
            for each in sorted(source.iterdir()):
                if each.is_file() and each.name not in _LEFT:
                    shutil.copyfile(each, temporary / each.name)
            files.write_json(temporary / PROVENANCE, {"run": run.name, **_provenance(source)})
            point = {axis: getattr(run, axis) for axis in RUN_AXES}
            mine, beside = shares.filter(seed=run.seed, **point), nulls.filter(**point)
            card = _card(results, run, mine, beside, licence)
            files.write_text(temporary / "README.md", card)
        written.append(output / name)
    return written


def _alone(run: Run, there: str) -> None:
    """Refuse a run whose folder is another's: ``a-b/c`` and ``a/b-c`` have one name on the Hub."""
    if there != run.name:
        raise PoshgridError(
            f"{name_of(run)}: the name of {there} and of {run.name} on the Hub; export them with "
            "--only and --output apart, and give one repository another name"
        )


def _provenance(source: Path) -> dict[str, Any]:
    manifest = files.read_json(source / "manifest.json")
    told = {key: manifest[key] for key in _TOLD if key in manifest}
    # Names of files, not the folders that they lay in
    inputs, outputs = (
        {Path(path).name: digest for path, digest in manifest.get(kind, {}).items()}
        for kind in ("inputs", "outputs")
    )
    outputs = {name: digest for name, digest in outputs.items() if name not in _LEFT}
    return {**told, "inputs": inputs, "outputs": outputs}


# ---- the card --------------------------------------------------------------------------------


def _card(
    results: Results, run: Run, shares: pl.DataFrame, nulls: pl.DataFrame, licence: str | None
) -> str:
    from huggingface_hub import EvalResult, ModelCard, ModelCardData

    own = ModelCard.load(results.model(run) / "README.md")  # as training wrote it
    phenomena = shares.filter(level="phenomenon").sort("suite", "category", "phenomenon")
    head = ModelCardData(
        **own.data.to_dict(),
        license=licence,
        model_name=name_of(run),
        eval_results=[
            EvalResult(
                task_type=own.data.get("pipeline_tag"),
                dataset_type=row["suite"],
                dataset_name=row["suite"],
                dataset_config=row["phenomenon"],
                metric_type="accuracy",
                metric_value=round(row["accuracy"], 6),
            )
            for row in phenomena.iter_rows(named=True)
        ]
        or None,
    )
    parts = [
        f"---\n{head.to_yaml()}\n---\n{own.text.strip()}\n",
        *_accuracy_lines(shares, phenomena, nulls),
        *_corpus_lines(results, run),
        f"## Licence\n\n{licence or 'None is stated.'} The corpora above have licences of their "
        "own, which may bind who shares the weights.\n",
        f"## What made it\n\n`{PROVENANCE}`: the slice of the configuration, the fingerprint of "
        "the code, digests of inputs and files, versions. Made by poshgrid.\n",
    ]
    return "\n".join(parts)


def _accuracy_lines(
    shares: pl.DataFrame, phenomena: pl.DataFrame, nulls: pl.DataFrame
) -> list[str]:
    if phenomena.is_empty():
        return ["## Accuracy\n", "No suite of minimal pairs has been scored.\n"]
    known = {(row["suite"], row["phenomenon"]): row for row in nulls.iter_rows(named=True)}
    lines = [
        "## Accuracy\n",
        "Of this run, in percent of minimal pairs; a tie is half right, 50 is chance. Beside it "
        "stand nulls, which know no syntax: where one is far from 50, so is chance.\n",
        "| suite | phenomenon | pairs | accuracy | untrained | unigram | n-gram |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in phenomena.iter_rows(named=True):
        beside = known.get((row["suite"], row["phenomenon"]), {})
        told = (_percent(beside.get(null)) for null in ("untrained", "unigram", "ngram"))
        cells = (row["suite"], row["phenomenon"], f"{row['n']:,}", _percent(row["accuracy"]), *told)
        lines.append(f"| {' | '.join(cells)} |")
    for row in shares.filter(level="overall").sort("suite").iter_rows(named=True):
        lines.append(f"\n{row['suite']}, mean of its categories: {_percent(row['accuracy'])}.")
    return [*lines, ""]


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"


def _made_up(results: Results, source: str) -> bool:
    """Say whether the toy grammar made a source's sentences."""
    manifest = Path(results.paths.source(source)).with_name("manifest.json")
    return manifest.is_file() and toy.made(files.read_json(manifest))


def _corpus_lines(results: Results, run: Run) -> list[str]:
    path = Path(results.paths.condition(run.condition, run.size)) / "statistics.json"
    lines = ["## Corpora\n"]
    if not path.is_file():
        return [*lines, f"Condition {run.condition}, size {run.size}.\n"]
    facts = files.read_json(path)
    train, removed = facts["splits"]["train"], facts.get("removed", {})
    taken = f" Filters took sentences out: {', '.join(removed)}." if removed else ""
    if back := facts.get("reinserted"):
        taken += f" Some were put back: {', '.join(back)}."
    lines += [
        f"{train['words']:,} words in {train['sentences']:,} sentences: condition {run.condition} "
        f"at size {run.size}, of base {facts['base']}.{taken}\n",
        "| source | words | licence of the source |",
        "|---|---:|---|",
    ]
    if toys := [source for source in train.get("sources", {}) if _made_up(results, source)]:
        lines.insert(1, f"**Toy text** ({', '.join(toys)}): {toy.NOTICE}\n")
    known = {entry.name: entry for entry in catalogue.manifest().sources}
    for source, counted in train.get("sources", {}).items():
        entry = known.get(source)
        told = f"[{entry.licence}]({entry.licence_url})" if entry else "not known to poshgrid"
        lines.append(f"| {source} | {counted['words']:,} | {told} |")
    return [*lines, ""]
