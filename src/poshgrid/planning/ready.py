"""``poshgrid ready``: whether the inputs of a target exist, before anything runs.

The parts of a configuration already agree, or it could not be loaded
(:mod:`poshgrid.grid.coherence`). This module checks files outside the configuration. ``poshgrid
plan`` shows the disk space of models, ``poshgrid doctor`` checks a cluster's memory and time
limits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from poshgrid.benchmark.items import generate
from poshgrid.config import Cleaning, Corpus, Filter, Pretrained, Source, Suite, specs
from poshgrid.config.base import Section
from poshgrid.core.errors import PoshgridError, check_known, similar_file
from poshgrid.core.files import read_json
from poshgrid.core.verification import MANIFEST
from poshgrid.corpora import budgets, catalogue
from poshgrid.corpora.read import read_source
from poshgrid.corpora.report import loss
from poshgrid.grid.grid import Grid
from poshgrid.parsing.engines.spacy import is_mapped
from poshgrid.parsing.engines.words import LABELS
from poshgrid.parsing.treebank import TOY, components
from poshgrid.parsing.treebank import files as treebank_files
from poshgrid.planning import current
from poshgrid.planning.findings import Finding, error, ok, warning

BEGINNING = 100_000
"""Words of a source that are read."""


def examine(grid: Grid, target: str) -> list[Finding]:
    """Check everything that a target needs from outside.

    Args:
        grid: grid of the configuration.
        target: an experiment, ``all`` or ``pretrained``.

    Returns:
        One finding for each source, treebank, parser, suite, norm and given model, then for each
        regression that has no data. A missing input is an error, unless its result exists already.

    Raises:
        PoshgridError: there is no such target.
    """
    targets = [*grid.targets, *(["pretrained"] if grid.pretrained_runs else [])]
    check_known("unknown target", target, targets)
    findings: list[Finding] = []
    for look in LOOKS:
        try:
            findings += look(grid, target)
        except OSError as problem:
            what = f"{problem.filename}: cannot be read: {problem.strerror}"
            findings.append(error("files", what, "fix the path or its permissions"))
    return findings


def announce(grid: Grid, target: str, *, dry: bool) -> None:
    """Print at the start of a run which inputs are missing, and stop a real run if any is.

    A dry-run continues: plans are made before the data exist.

    Raises:
        SystemExit: an input is missing, and this is not a dry-run. Snakemake would show another
            exception with a traceback.
    """
    findings = examine(grid, target)
    wrong = [finding for finding in findings if finding.state == "error"]
    if not wrong:
        doubts = sum(finding.state == "warning" for finding in findings)
        more = f", {doubts} with a warning (`poshgrid ready`)" if doubts else ""
        sys.stderr.write(f"ready: {target}: {len(findings) - doubts} found{more}\n")
        return
    count = f"{len(wrong)} of {len(findings)} inputs are missing or wrong"
    sys.stderr.write(f"{'not ready' if dry else 'error'}: {target}: {count}\n")
    sys.stderr.writelines(f"  {finding.line()}\n" for finding in wrong)
    if not dry:
        sys.exit(1)


def page(workflow: Any, grid: Grid, target: str) -> list[str]:  # noqa: ANN401 - Snakemake's
    """Print what a target's inputs lack; return its report, [] for a target without experiments.

    Only Snakemake's main process calls it, for the requested targets. Only a real run needs its
    inputs: a dry-run, and options that list, touch or unlock, do not.
    """
    runs = workflow.executor_plugin is not None and not (workflow.dryrun or workflow.touch)
    announce(grid, target, dry=not runs)
    return [f"{grid.paths.report(target)}/index.html"] if target in grid.targets else []


def losses(dag: Any) -> None:  # noqa: ANN401 - Snakemake's
    """Print a line for each source of a run that lost more than 5% of its words in reading."""
    read = (job for job in dag.jobs if job.rule.name == "read")
    tables = {Path(job.output[0]).with_name("statistics.json") for job in read}
    for table in sorted(tables):
        with suppress(PoshgridError):  # a damaged file is reported by the stage that reads it
            if table.is_file() and (line := loss(read_json(table))):
                sys.stderr.write(f"{line}\n")


def _phenomena(grid: Grid, target: str) -> Iterator[Finding]:
    """Yield an error for regressions with phenomena that their suite does not have.

    For suites read from files this is only checked when the regression is fitted.
    """
    for name in grid.fitted(target):
        model = grid.regressions[name]
        suite = grid.suites.get(grid.judged(model))
        asked = set(model.phenomena or ())
        known = (suite.phenomena if suite and asked else None) or asked
        if unknown := sorted(asked - known):
            yield error(
                f"model {name}",
                f"phenomena: its suite has no phenomenon or category {', '.join(unknown)}",
                f"name one of {', '.join(sorted(known))}",
            )


def _file(
    check: str,
    path: Path,
    remedy: str,
    *,
    there: bool | None = None,
    what: str = "not found",
    made: str | None = None,
) -> Finding:
    """Return whether an input exists; it may be missing if its result exists already.

    Args:
        check: name of the check.
        path: the input.
        remedy: what to do if it is missing.
        there: whether it exists; None: whether the path is a file.
        what: message if it is missing.
        made: a result made of the input; None: no result is made of the input alone.
    """
    if path.is_file() if there is None else there:
        return ok(check, str(path))
    if made and Path(made).exists():
        return warning(check, f"{path}: {what}; {made} was made of it already")
    return error(check, f"{path}: {what}{similar_file(path)}", catalogue.doubled(path) or remedy)


def corpora(grid: Grid, target: str) -> set[str]:
    """Return the corpora that a target reads: all used ones if items are generated from them."""
    own = {grid.corpus_of(condition).name for condition, _ in grid.cells(target)}
    generated = any(suite.generated for suite in grid.suites.values())
    return own | set(grid.vocabularies()) if generated else own


def _results(grid: Grid, target: str) -> Iterator[Finding]:
    """Yield an error if there cannot be a results folder."""
    try:
        current.check_folder(grid.paths.results)
    except PoshgridError as problem:
        yield error("results", *str(problem).removeprefix("results: ").split("; "))


def _sources(grid: Grid, target: str) -> Iterator[Finding]:
    needs: dict[str, list[tuple[Corpus, int]]] = {}
    for corpus in (grid.corpora[name] for name in corpora(grid, target) if grid.sizes(name)):
        needed = budgets.needed(corpus, grid.sizes(corpus.name))
        for portion in (portion for portion in corpus.sources if any(portion.words.values())):
            needs.setdefault(portion.source, []).append((corpus, needed[portion.source]))
    for source in (source for source in grid.config.sources if source.name in needs):
        check, path = f"source {source.name}", Path(grid.config.data, source.path)
        made = _made(grid.paths.source(source.name), specs.SourceSpec(source=source), path)
        if not (problem := catalogue.lacking(source, grid.config.data)):
            job = partial(_read, source, grid.config.data, needs[source.name])
            yield _tried(ok(check, str(path)), made, job)
        elif made:
            yield warning(check, f"{problem[0]}; {made} was made of it already")
        else:
            yield error(check, *problem)


def _made(result: str, spec: Section, path: Path) -> str | None:
    """Return the result of a job that read this file with these settings; None if there is none."""
    manifest = Path(result).with_name(MANIFEST)
    with suppress(PoshgridError, OSError):  # there is none
        same = Path(result).is_file() and read_json(manifest).get("spec") == spec.written()
        if same and not (path.exists() and path.stat().st_mtime > manifest.stat().st_mtime):
            return result
    return None


def _read(source: Source, data: str, needs: list[tuple[Corpus, int]], table: Path) -> None:
    """Read the beginning of a source, as its job does, but keep all sentences.

    Raises:
        PoshgridError: its job would fail; or the beginning is all of it, and a corpus needs more.
    """
    limit = min(max(1, round(BEGINNING * source.share)), source.words or BEGINNING)
    spec = specs.SourceSpec(
        source=source.model_copy(update={"words": limit, "cleaning": Cleaning()})
    )
    words = read_source(spec, Path(data), table)["words"]
    for corpus, needed in needs if words < limit or limit == source.words else ():
        budgets.check_enough(corpus, source.name, needed, words, "training, dev and test")


def _tried(there: Finding, made: str | None, job: Callable[[Path], Any]) -> Finding:
    """Return a finding, or the error of the first job that reads the input.

    Args:
        there: the finding of a file that exists.
        made: the job's result; None: there is none, and the job is tried.
        job: function that reads the input and writes a table.
    """
    try:
        if there.state == "ok" and not made:
            with TemporaryDirectory() as folder:
                job(Path(folder, "table.parquet"))
    except PoshgridError as problem:
        return error(there.check, str(problem))
    return there


def _without_trees(grid: Grid, target: str) -> Iterator[Finding]:
    """Yield an error for filters and rewriters that need trees if the parser makes none."""
    name = grid.evidence_parsers()[0]
    if name not in grid.parsers or grid.parsers[name].engine != "words":
        return
    from poshgrid.evidence.label import needs

    used: dict[Filter, list[str]] = {}
    for condition in sorted({condition for condition, _ in grid.cells(target)}):
        if "void" in grid.conditions[condition].allow:
            continue
        for rule in grid.conditions[condition].filters:
            used.setdefault(rule, []).append(condition)
        if rewriters := grid.rewriters(condition):
            yield error(
                f"condition {condition}",
                f"is rewritten by trees ({', '.join(rewriters)}), and parser {name!r} of engine "
                "words makes none",
                "name a parser with trees in evidence.parser (docs/filters.md)",
            )
    for rule, conditions in used.items():
        asked = needs(rule.name, rule.reading)
        if lacking := [label for label in asked if LABELS.isdisjoint(label.split("|"))]:
            yield error(
                f"filter {rule.name}",
                f"asks for {', '.join(lacking[:3])}, and parser {name!r} of engine words "
                f"makes no trees (condition {', '.join(conditions)})",
                "name a parser with trees in evidence.parser (docs/filters.md), or another filter",
            )


def _parsers(grid: Grid, target: str) -> Iterator[Finding]:
    runs = grid.targets.get(target, [])
    wanted = {name for run in runs if (name := grid.parser_of_bias[run.bias])}
    if grid.parsed_corpora(target):
        wanted |= set(grid.evidence_parsers())
    for parser in (grid.parsers[name] for name in sorted(wanted)):
        check = f"parser {parser.name}"
        if parser.treebank is not None and not parser.model:
            made = f"{grid.paths.parser(parser.name)}/manifest.json"
            yield _conllu(grid, check, components(parser.treebank), made)
            continue
        if parser.engine == "words":  # needs no model
            continue
        folder = Path(grid.config.data, parser.model or "")
        there = folder.is_dir() and any(folder.iterdir())
        if there and parser.engine == "spacy":
            yield _labels(check, folder)
            continue
        yield _file(
            check, folder, f"download one for {parser.engine} (docs/filters.md), or give "
            "parsers[].treebank",
            there=there, what="no trained model there",
        )  # fmt: skip


def _labels(check: str, folder: Path) -> Finding:
    """Return whether a spaCy pipeline predicts the labels that filters need."""
    try:
        if is_mapped(folder):
            what = "its labels are ClearNLP's and are mapped to Universal Dependencies"
            return warning(check, what, "see docs/filters.md for what the filters then find")
    except PoshgridError as problem:
        return error(check, str(problem), "give another parsers[].model, or parsers[].treebank")
    return ok(check, str(folder))


def _tokenizers(grid: Grid, target: str) -> Iterator[Finding]:
    """Yield whether the given tokenizer files exist."""
    files = {grid.tokenizer_of(name).file for name, _ in grid.tokenized(target)}
    for file in sorted(filter(None, files)):
        path = Path(grid.config.data, file)
        yield _file("tokenizer", path, "put it there, or fix tokenizer.file")


def _conllu(grid: Grid, check: str, paths: Sequence[str], made: str | None) -> Finding:
    """Return whether CoNLL-U files, or folders of them, exist."""
    for path in (Path(grid.config.data, path) for path in paths if path != TOY):
        if not treebank_files(path):
            remedy = "put CoNLL-U files there (Universal Dependencies), or fix the path of "
            return _file(check, path, remedy + check, there=False, what="no treebank", made=made)
    return ok(check, ", ".join("the toy grammar" if path == TOY else path for path in paths))


def _trees(grid: Grid, target: str) -> Iterator[Finding]:
    """Yield whether the gold trees for testing parsers exist."""
    evidence = grid.config.evidence
    if evidence.gold and grid.parsed_corpora(target):
        made = grid.paths.recall(grid.evidence_parsers()[0])
        yield _conllu(grid, "evidence.gold", evidence.gold, made)


def _suites(grid: Grid, target: str) -> Iterator[Finding]:
    for name, suite in grid.suites.items():
        if not suite.generated:
            yield _suite(grid, suite)
        if suite.norms:
            path = Path(grid.config.data, suite.norms)
            remedy = f"put the table there, or fix suites[].norms of {name}"
            yield _file(f"norms of {name}", path, remedy)


def _suite(grid: Grid, suite: Suite) -> Finding:
    """Return whether the files of a suite exist, and whether a user's own suite can be read."""
    check, path = f"suite {suite.name}", Path(grid.config.data, suite.path or "")
    spec = specs.ItemsSpec(suite=suite.model_copy(update={"masked": None}), top_k=None)
    made = _made(grid.paths.items(suite.name), spec, path)
    there = path.is_file() or (path.is_dir() and any(path.iterdir()))
    for entry in catalogue.manifest().suites:
        if (suite.reader, suite.path) == (entry.formats[0].reader, entry.formats[0].path):
            remedy = f"run: poshgrid fetch {entry.name} --data {grid.config.data}"
            lacking = [item.file for item in entry.downloads if not (path / item.file).is_file()]
            if there and 0 < len(lacking) < len(entry.downloads):
                number = f"{len(lacking)} of {len(entry.downloads)} files"
                return warning(check, f"{path}: without {number}, {lacking[0]} first", remedy)
            return _file(check, path, remedy, there=there, made=made)
    remedy = (
        f"put the files of the reader {suite.reader} there, or fix suites[].path of {suite.name}; "
        "see docs/benchmark.md"
    )
    job = partial(generate, spec, Path(grid.config.data), {}, {})
    return _tried(_file(check, path, remedy, there=there, made=made), made, job)


def _given(grid: Grid, target: str) -> Iterator[Finding]:
    """Yield whether given models exist, or, on a hub, have a fixed revision."""
    for name, model in grid.pretrained.items():
        check, folder = f"pretrained {name}", grid.model_folder(model)
        if folder is not None:
            remedy = "give the folder of a Hugging Face model"
            there = (folder / "config.json").is_file()
            yield _file(check, folder, remedy, there=there, what="no config.json")
        elif model.path.count("/") > 1 or model.path.startswith((".", "/")):
            yield _file(check, Path(grid.config.data, model.path), "fix pretrained[].path")
        else:
            yield _on_hub(grid, check, model)


def _on_hub(grid: Grid, check: str, model: Pretrained) -> Finding:
    """Return whether a model of a hub is in its cache, and has a fixed revision."""
    from huggingface_hub import try_to_load_from_cache

    at = f" --revision {model.revision}" if model.revision else ""
    try:
        cached = try_to_load_from_cache(model.path, "config.json", revision=model.revision)
    except ValueError:  # the library's error for a name that no model can have
        what = f"{model.path}: no folder below `data`, and no name of a model of the hub"
        return error(check, what, "fix pretrained[].path; a revision has a key of its own")
    if not isinstance(cached, str):
        near = similar_file(Path(grid.config.data, model.path))
        what = f"{model.path}: no folder below `data`, and not in the hub's cache (HF_HOME){near}"
        remedy = (
            f"if it is a model of the hub, its job downloads it, or: hf download {model.path}{at}"
        )
        return warning(check, what, remedy)
    if not at:
        what = f"{model.path} comes from the hub at its default branch"
        return warning(check, what, "pin it: pretrained[].revision, a commit")
    return ok(check, f"{model.path}{at}")


LOOKS = (
    _results, _sources, _tokenizers, _parsers, _without_trees, _trees, _suites, _given,
    _phenomena,
)  # fmt: skip
"""Functions (grid, target) that yield the findings of one kind."""
