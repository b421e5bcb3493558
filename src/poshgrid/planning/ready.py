"""``poshgrid ready``: whether what a target needs is there, before anything runs.

The parts of a configuration agree already, or it could not be loaded
(:mod:`poshgrid.grid.coherence`). Here is what lies outside it: files, room on the disk, memory. A
cluster is another matter: ``poshgrid doctor`` submits jobs to it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from poshgrid import plugins, resources
from poshgrid.config import Parser, Pretrained, Suite, Treebank
from poshgrid.config.evaluation import SUITES
from poshgrid.corpora import catalogue
from poshgrid.corpora import ready as texts
from poshgrid.errors import PoshgridError, check_known, plain
from poshgrid.files import read_json
from poshgrid.grid.grid import Grid
from poshgrid.grid.inputs import model_folder
from poshgrid.grid.slices import Slices
from poshgrid.parsing.treebank import TOY
from poshgrid.parsing.treebank import files as treebank_files
from poshgrid.planning import stale, work
from poshgrid.planning.findings import Finding, error, ok, warning
from poshgrid.verification import is_manifest, nearest

_TOLD = 3  # inputs that a summary names
_LONGEST = 160  # characters of one of them
_COPIES = 4  # of the weights that training holds: themselves, their gradients, two moments


def examine(grid: Grid, target: str) -> list[Finding]:
    """Look at everything that a target needs from outside.

    Args:
        grid: of the configuration.
        target: an experiment, ``all`` or ``pretrained``.

    Returns:
        One finding for each source, treebank, parser, suite, norm and given model, then for what
        sources hold, for models of the counts that no run is left for, for disk and memory. An
        input that is missing, and of which nothing has been made yet, is an error.

    Raises:
        PoshgridError: there is no such target.
    """
    known(grid, target)
    found: list[Finding] = []
    for look in (
        _sources, _prebuilt, _tokenizers, _parsers, _trees, _suites, _given, _held, _unfitted,
        _published, _room,
    ):  # fmt: skip
        try:
            found += look(grid, target)
        except OSError as problem:
            what = f"{problem.filename}: cannot be looked at: {problem.strerror}"
            found.append(error("files", what, "mend the path or its permissions"))
    return found


def known(grid: Grid, target: str) -> None:
    """Refuse a target that a grid does not have.

    Raises:
        PoshgridError: there is no such target.
    """
    targets = [*grid.targets, *(["pretrained"] if grid.given else [])]
    check_known("unknown target", target, targets)


def summary(found: Sequence[Finding], target: str, files: Sequence[str | Path]) -> list[str]:
    """Return at most five lines that stand at the head of a run."""
    wrong = [each for each in found if each.state == "error"]
    if not wrong:
        doubts = [each for each in found if each.state == "warning"]
        more = f", {len(doubts)} to know of" if doubts else ""
        return [f"ready: {target}: {len(found) - len(doubts)} found{more}"]
    lines = [f"not ready: {target}: {len(wrong)} of {len(found)} are missing or wrong"]
    lines += [f"  {plain(f'{each.check}: {each.what}', _LONGEST)}" for each in wrong[:_TOLD]]
    words = ["poshgrid", "ready", *map(str, files), "--target", target]
    return [*lines, f"  `{shlex.join(words)}` says what to do for each"]


def announce(grid: Grid, target: str, files: Sequence[str | Path], *, dry: bool) -> None:
    """Say at the head of a run what is missing, and let no run begin without it.

    A dry-run goes on: plans are made before the data are there.

    Raises:
        SystemExit: something is missing, and this is no dry-run. Snakemake would show another
            exception with a traceback.
    """
    found = examine(grid, target)
    lines = summary(found, target, files)
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    if not dry and any(each.state == "error" for each in found):
        sys.stderr.write(f"error: {target}: inputs are missing, so that nothing was started\n")
        sys.exit(1)


def page(workflow: Any, slices: Slices, target: str, files: Sequence[str | Path]) -> list[str]:  # noqa: ANN401 - Snakemake's
    """Return the report of a target, having said what it needs and what stale models it has.

    Asked by Snakemake's own process alone, for the targets that it was given. Only a run needs its
    inputs: a dry-run does not, nor what lists, touches or unlocks.
    """
    runs = workflow.executor_plugin is not None and not (workflow.dryrun or workflow.touch)
    announce(slices.grid, target, files, dry=not runs)
    return stale.report(workflow, slices, target)


def misspelt(grid: Grid, target: str) -> list[str]:
    """Say that a word which no rule makes is no target.

    Raises:
        SystemExit: always. Snakemake would show another exception with a traceback.
    """
    try:
        known(grid, target)
    except PoshgridError as error:
        sys.stderr.write(f"error: {error}\n")
    sys.exit(1)


# ---- inputs -----------------------------------------------------------------------------------


def _absent(
    check: str, what: str, remedy: str, made: str | Path | None = None, of: Sequence[str] = ()
) -> Finding:
    """Return that an input is missing: no error where what is made of it is there already.

    Args:
        check: what is looked at.
        what: what is wrong.
        remedy: against it.
        made: a result; none: nothing is made of the input alone.
        of: the inputs that are missing, files or folders of them. A result with a manifest that
            names none of them was made of others, and is made again.
    """
    if made is not None and Path(made).exists() and _made_of(Path(made), of):
        return warning(check, f"{what}; {made} was made of it already")
    return error(check, what, remedy)


def _made_of(made: Path, missing: Sequence[str]) -> bool:
    """Say whether a manifest names all of these inputs: by name, for `data` may have moved."""
    manifest = made if is_manifest(made) else nearest(made)
    try:
        used = read_json(manifest).get("inputs") if manifest else None
    except (PoshgridError, AttributeError):
        return True  # a manifest that is broken is `poshgrid verify`'s
    return not isinstance(used, dict) or all(
        any(Path(path).name in Path(given).parts for given in used) for path in missing
    )


def _bases(grid: Grid, target: str) -> set[str]:
    """Return the bases that a target reads: all that are used where items are made from them."""
    if any(suite.generated for suite in grid.suites.values()):
        return set(grid.vocabularies())
    return {grid.base_of(condition).name for condition, _ in grid.cells(target)}


def _sources(grid: Grid, target: str) -> Iterator[Finding]:
    wanted = {
        portion.source
        for base in _bases(grid, target)
        if grid.sizes(base)
        for portion in grid.bases[base].sources
        if any(portion.words.values())
    }
    for each in catalogue.status(grid.config):
        name = f"source {each.name}"
        if each.name not in wanted:
            continue
        if each.found:
            yield ok(name, f"{each.path}: {each.files:,} files, {catalogue.bytes_(each.size)}")
        else:
            licence = " (restricted)" if each.restricted else ""
            yield _absent(
                name,
                f"{each.problem}{licence}",
                each.remedy or "",
                grid.paths.source(each.name),
                [str(each.path)],
            )


def _prebuilt(grid: Grid, target: str) -> Iterator[Finding]:
    for name, size in grid.cells(target):
        given = grid.conditions[name].prebuilt
        if given:
            folder = Path(grid.config.data, texts.place(given, size))
            check = f"condition {name}"
            lacking = [split for split in texts.SPLITS if split not in texts.files(folder)]
            if not lacking:
                yield ok(check, str(folder))
            else:
                yield _absent(
                    check,
                    f"{folder}: no {lacking[0]}.txt",
                    "put train.txt, dev.txt and test.txt there, or folders of these names",
                    f"{grid.paths.condition(name, size)}/train.parquet",
                    [str(folder)],
                )


def _parsers(grid: Grid, target: str) -> Iterator[Finding]:
    runs = grid.targets.get(target, [])
    wanted = {parser for run in runs if (parser := grid.trees(run))}
    if grid.parsed_bases(target):
        wanted |= set(grid.evidence_parsers())
    for name in sorted(wanted):
        yield _parser(grid, grid.parsers[name])


def _parser(grid: Grid, parser: Parser) -> Finding:
    check = f"parser {parser.name}"
    if parser.model:
        folder = Path(parser.model)
        if folder.is_dir() and any(folder.iterdir()):
            return ok(check, str(folder))
        return _absent(
            check,
            f"{folder}: no trained model there",
            f"download one for {parser.engine}, as config/config.yaml says, or give parsers[]"
            ".treebank",
        )
    made = f"{grid.paths.parser(parser.name)}/manifest.json"
    assert parser.treebank is not None
    return _treebank(grid, check, parser.treebank, made)


def _treebank(grid: Grid, check: str, treebank: Treebank, made: str | None) -> Finding:
    return _conllu(grid, check, [part.path for part in treebank.parts], made)


def _tokenizers(grid: Grid, target: str) -> Iterator[Finding]:
    """Yield whether the files that tokenizers are, in place of training, are there."""
    given = {grid.tokenizer_of(name).file for name, _ in grid.cells(target)}
    for file in sorted(filter(None, given)):
        path = Path(grid.config.data, file)
        yield (
            ok("tokenizer", str(path))
            if path.is_file()
            else error("tokenizer", f"{path}: not found", "put it there, or mend tokenizer.file")
        )


def _conllu(grid: Grid, check: str, paths: Sequence[str], made: str | None) -> Finding:
    """Return whether CoNLL-U files or folders of them are there."""
    missing, number = [], 0
    for path in (Path(grid.config.data, path) for path in paths if path != TOY):
        found = treebank_files(path)
        number += len(found)
        if not found:
            missing.append(str(path))
    if missing:
        remedy = f"put CoNLL-U files there (Universal Dependencies), or mend the path of {check}"
        return _absent(check, f"{', '.join(missing)}: no treebank", remedy, made, missing)
    there = [f"{number:,} treebank files"] if number else []
    return ok(check, ", ".join([*there, *(["the toy grammar"] if TOY in paths else [])]))


def _trees(grid: Grid, target: str) -> Iterator[Finding]:
    """Yield whether the trees that parsers are set beside, and detectors learn from, are there."""
    evidence = grid.config.evidence
    if evidence.gold and grid.parsed_bases(target):
        made = grid.paths.recall(grid.evidence_parsers()[0])
        yield _conllu(grid, "evidence.gold", evidence.gold, made)
    if evidence.detector and grid.audits(target):
        yield _treebank(grid, "evidence.detector", evidence.detector, None)


def _suites(grid: Grid, target: str) -> Iterator[Finding]:
    for name, suite in grid.suites.items():
        if not suite.generated:
            yield _suite(grid, suite)
        if suite.norms:
            path = Path(grid.config.data, suite.norms)
            check = f"norms of {name}"
            remedy = f"put the table there, or mend suites[].norms of {name}"
            yield (
                ok(check, str(path))
                if path.is_file()
                else error(check, f"{path}: not found", remedy)
            )


def _suite(grid: Grid, suite: Suite) -> Finding:
    check = f"suite {suite.name}"
    path = Path(grid.config.data, suite.path or "")
    options = plugins.options(SUITES, suite.reader, suite.options)
    there = path.is_file() or (path.is_dir() and any(path.iterdir()))
    hub = getattr(options, "hub", None)
    if there:
        try:
            plugins.load(SUITES, suite.reader).files(path, options)
        except (PoshgridError, OSError) as problem:
            return error(check, str(problem), "see docs/benchmark.md")
        return ok(check, str(path))
    if hub:
        return warning(
            check, f"{path}: not there: Snakemake downloads {hub} before its jobs start",
            "without a network, put its files there (docs/benchmark.md)",
        )  # fmt: skip
    made = grid.paths.items(suite.name)
    return _absent(
        check, f"{path}: not found", f"put the files of the reader {suite.reader} there, or mend "
        f"suites[].path of {suite.name}; see docs/benchmark.md", made, [str(path)],
    )  # fmt: skip


def _given(grid: Grid, target: str) -> Iterator[Finding]:
    """Yield of models of somebody else's whether they are there, or are pinned."""
    for name, model in grid.pretrained.items():
        yield _pretrained(grid, f"pretrained {name}", model)


def _pretrained(grid: Grid, check: str, model: Pretrained) -> Finding:
    found = model_folder(grid, model)
    if found is not None:
        if (found / "config.json").is_file():
            return ok(check, str(found))
        return error(check, f"{found}: no config.json", "give the folder of a Hugging Face model")
    if model.model.count("/") > 1 or model.model.startswith((".", "/")):
        path = Path(grid.config.data, model.model)
        return error(check, f"{path}: not found", "mend pretrained[].model")
    pinned = f"at {model.revision}" if model.revision else "at its default branch"
    return warning(
        check, f"{model.model} comes from the hub {pinned}: Snakemake downloads it",
        "" if model.revision else "pin it: pretrained[].revision, a commit",
    )  # fmt: skip


# ---- what they hold, and what there is room for -------------------------------------------------


def _held(grid: Grid, target: str) -> Iterator[Finding]:
    """Yield the sources that, once read, turn out to be too small for a base."""
    for name in sorted(_bases(grid, target)):
        if not (asked := grid.sizes(name)):
            continue
        for source, needed in grid.bases[name].needed(asked).items():
            table = Path(grid.paths.source(source)).with_name("statistics.json")
            if not table.is_file():
                continue
            try:
                words = read_json(table).get("words", 0)
            except PoshgridError as broken:  # the job that reads it says so too, and stops
                yield warning(f"base {name}", plain(str(broken)))
                continue
            if words < needed:
                yield error(
                    f"base {name}",
                    f"source {source!r} is too small: needs {needed:,} words, has {words:,}",
                    "lower its words or add text",
                )


def _published(grid: Grid, target: str) -> Iterator[Finding]:
    study = grid.config.study
    if study and not resources.numbers(study.name):
        yield warning(
            "study", f"{study.name}: no published numbers of that name in this installation: "
            "nothing stands beside ours", "mend study.name",
        )  # fmt: skip


def _unfitted(grid: Grid, target: str) -> Iterator[Finding]:
    for name in grid.models:
        if not any(name in grid.fitted(target) for target in grid.targets):
            yield warning(f"model {name}", "no target has runs for it: it is fitted to nothing")


def _room(grid: Grid, target: str) -> Iterator[Finding]:
    """Yield whether disk and memory hold what is certain: the weights, and training's copies."""
    total, largest = 0, (0, "")
    for run in grid.targets.get(target, []):
        if Path(f"{grid.paths.model(run.name)}/manifest.json").exists():
            continue
        learner, regimen = grid.learners[run.learner], grid.regimens[run.regimen]
        weights = 4 * work.learner_size(
            learner,
            vocabulary=grid.tokenizer_of(run.condition).vocabulary_size,
            context=regimen.context_length,
            positions=regimen.positions or regimen.context_length,
        ).parameters  # fmt: skip
        total += weights * (1 + work.kept(grid, run.regimen))
        largest = max(largest, (_COPIES * weights, run.learner))
    folder = Path(grid.paths.results).absolute()
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    free = shutil.disk_usage(nearest).free
    said = f"{nearest}: {catalogue.bytes_(free)} free, models alone take {catalogue.bytes_(total)}"
    if total > free:
        yield error("disk", said, "free space, or set results to another disk")
    else:
        yield ok("disk", said)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if largest[0] > memory:
        yield warning(
            "memory", f"training {largest[1]} takes {catalogue.bytes_(largest[0])} at least, this "
            f"machine has {catalogue.bytes_(memory)}", "train on another (docs/slurm.md)",
        )  # fmt: skip
    elif largest[1]:
        yield ok(
            "memory",
            f"{catalogue.bytes_(memory)}, training {largest[1]} takes "
            f"{catalogue.bytes_(largest[0])} at least",
        )
