"""What a target reads from outside: sources, parsers, treebanks, suites, norms, given models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from poshgrid import plugins
from poshgrid.config import Parser, Pretrained, Suite
from poshgrid.config.runs import SPLITS
from poshgrid.corpora import catalogue, listing
from poshgrid.errors import PoshgridError
from poshgrid.files import read_json
from poshgrid.grid.grid import Grid
from poshgrid.grid.inputs import model_folder
from poshgrid.parsing.treebank import TOY, components
from poshgrid.parsing.treebank import files as treebank_files
from poshgrid.planning.findings import Finding, error, ok, warning
from poshgrid.plugins import SUITES
from poshgrid.verification import is_manifest, nearest


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


def bases(grid: Grid, target: str) -> set[str]:
    """Return the bases that a target reads: all that are used where items are made from them."""
    if any(suite.generated for suite in grid.suites.values()):
        return set(grid.vocabularies())
    return {grid.base_of(condition).name for condition, _ in grid.cells(target)}


def _sources(grid: Grid, target: str) -> Iterator[Finding]:
    wanted = {
        portion.source
        for base in bases(grid, target)
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
            folder = Path(grid.config.data, listing.ready_place(given, size))
            check = f"condition {name}"
            lacking = [split for split in SPLITS if split not in listing.ready_files(folder)]
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
    return _conllu(grid, check, [part.path for part in components(parser.treebank)], made)


def _tokenizers(grid: Grid, target: str) -> Iterator[Finding]:
    """Yield whether the files that tokenizers are, in place of training, are there."""
    given = {grid.tokenizer_of(name).file for name, _ in grid.cells(target)}
    for file in sorted(filter(None, given)):
        path = Path(grid.config.data, file)
        yield _file("tokenizer", path, "put it there, or mend tokenizer.file")


def _file(check: str, path: Path, remedy: str) -> Finding:
    """Return whether a file is there."""
    if path.is_file():
        return ok(check, str(path))
    return error(check, f"{path}: not found", remedy)


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
        paths = [part.path for part in components(evidence.detector)]
        yield _conllu(grid, "evidence.detector", paths, None)


def _suites(grid: Grid, target: str) -> Iterator[Finding]:
    for name, suite in grid.suites.items():
        if not suite.generated:
            yield _suite(grid, suite)
        if suite.norms:
            path = Path(grid.config.data, suite.norms)
            remedy = f"put the table there, or mend suites[].norms of {name}"
            yield _file(f"norms of {name}", path, remedy)


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
            check,
            f"{path}: not there: Snakemake downloads {hub} before its jobs start",
            "without a network, put its files there (docs/benchmark.md)",
        )
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
        check,
        f"{model.model} comes from the hub {pinned}: Snakemake downloads it",
        "" if model.revision else "pin it: pretrained[].revision, a commit",
    )


LOOKS = (_sources, _prebuilt, _tokenizers, _parsers, _trees, _suites, _given)
"""Each yields the findings of one kind, of a grid and a target."""
