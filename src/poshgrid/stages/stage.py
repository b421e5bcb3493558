"""The base class of stages: from one declaration follow jobs, rule, manifest and code digest.

A job is one JSON object on the command line of ``poshgrid stage NAME JOB``: its slice of the
configuration (without defaults), the digest of its code, its inputs by name, and its output.
Snakemake compares that text, so a job reruns if a value that it reads changes, and for no other
change. Linux allows less than 128 KB for an argument, so a long job is written to a file named
after its content, and the command line has ``@FILE``.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, get_type_hints

from poshgrid.config import Source, Suite
from poshgrid.config.base import Section, place
from poshgrid.config.paths import Paths
from poshgrid.config.runs import SCORED, Run
from poshgrid.config.specs import parse
from poshgrid.core import adopt, fingerprint, plugins, verification
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import write_text
from poshgrid.core.manifest import recorded
from poshgrid.core.plugins import FILTERS
from poshgrid.core.verification import MANIFEST
from poshgrid.corpora import toy
from poshgrid.evidence import patterns
from poshgrid.grid.grid import Grid
from poshgrid.parsing import treebank
from poshgrid.planning.current import LONG_JOBS

MAX_ARGUMENT = 48 * 1024
"""Largest job, in bytes, that is passed on the command line."""
Wildcards = Any
"""A job's wildcards as attributes, as in Snakemake. A :class:`Run` has those of its job."""
PATHS = Paths("{results}")
"""Paths with a placeholder for the results folder."""
Files = str | list[str] | dict[str, str]
"""One file, several, or several by name."""


def growing(amount: int) -> Callable[[object, int], int]:
    """Return a resource that grows with each attempt at a job."""
    return lambda wildcards, attempt: amount * attempt


@dataclass(frozen=True)
class Job:
    """One job of a stage, as its function receives it.

    Attributes:
        spec: the slice of the configuration; None for a stage that reads none.
        inputs: files by name, see :class:`Stage`.
        arguments: other arguments of the function, e.g. folders.
        output: the folder to write.
        data: folder of the sources.
        wildcards: those of the rule, e.g. ``size``.
        paths: paths of the results folder.
        threads: number of processes, which does not change the result.
    """

    spec: Any
    inputs: Mapping[str, Files]
    arguments: Mapping[str, Any]
    output: Path
    data: Path
    wildcards: Mapping[str, str]
    paths: Paths
    threads: int = 1

    def files(self, name: str) -> list[Path]:
        """Return the files of an input; [] if the job has no such input."""
        return [Path(file) for file in flat(self.inputs.get(name, []))]

    def file(self, name: str) -> Path | None:
        """Return the first file of an input; None without files."""
        return next(iter(self.files(name)), None)

    def path(self, name: str) -> Path:
        """Return the first file of an input.

        Raises:
            PoshgridError: the input has no file.
        """
        file = self.file(name)
        if file is None:
            raise PoshgridError(f"job: inputs: {name}: no file; copy the whole command")
        return file

    def folder(self, name: str) -> Path:
        """Return the folder of an input's files."""
        return self.path(name).parent

    def named(self, name: str) -> dict[str, Path]:
        """Return name -> file for an input whose files have names."""
        files = self.inputs.get(name, {})
        return {key: Path(file) for key, file in files.items()} if isinstance(files, dict) else {}


Takes = Callable[[Job], tuple[Any, ...]]
"""Returns the arguments of a stage's function, for a job."""


def flat(files: Files) -> list[str]:
    """Return the files of an input as a list."""
    if isinstance(files, str):
        return [files]
    return [*files.values()] if isinstance(files, dict) else files


def relative(path: Path) -> str:
    """Return a path relative to the working folder if possible, so that a checkout can be moved.

    Raises:
        PoshgridError: Snakemake would read it as another path (:func:`poshgrid.config.base.place`).
    """
    text = str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
    try:
        return place(text)
    except ValueError as error:
        raise PoshgridError(str(error)) from error


class Stage:
    """A stage of the workflow. A subclass declares it; its name is that of the rule.

    Its methods name the files that jobs read. A missing file from outside the workflow is left out:
    the job itself reports what is missing, and where to get it.

    Attributes:
        function: dotted path of the function that runs. The code digest covers :meth:`modules`, by
            default its module, and all that they import.
        takes: returns the arguments of that function, for a job.
        Spec: the slice of the configuration that a job reads, as :meth:`spec` is annotated; None if
            it reads none.
        output: the folder that a job writes, with wildcards; from :data:`PATHS`.
        outputs: files that a job writes into that folder, without its manifest.
        reads_data: whether the function receives the data folder.
        external: inputs that no job writes: a digest of their content is part of the job.
        editable: patterns of written files that people fill in.
        memory_mb: limit of a first attempt; it grows with each further attempt.
        minutes: the same.
        costly: keep the last outputs to reuse them (:mod:`poshgrid.core.adopt`). The output
            of such a stage only depends on its spec, code and inputs.
    """

    name: ClassVar[str]
    function: ClassVar[str] = ""
    takes: ClassVar[Takes]
    module: ClassVar[str]
    output: ClassVar[str]
    reads_data: ClassVar[bool] = False
    Spec: ClassVar[type[Section] | None] = None
    outputs: ClassVar[Sequence[str]] = ()
    external: ClassVar[Sequence[str]] = ()
    editable: ClassVar[Sequence[str]] = ()
    memory_mb: ClassVar[int] = 8000
    minutes: ClassVar[int] = 60
    costly: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        """Name the stage: ``TrainParser`` becomes ``train_parser``; note what it reads."""
        cls.module = cls.function.rpartition(".")[0]
        cls.name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        if "spec" in vars(cls):
            cls.Spec = get_type_hints(cls.spec)["return"]

    def __init__(self, grid: Grid, write: Callable[[], bool] = lambda: False) -> None:
        """Bind the stage to a grid.

        Args:
            grid: the grid whose jobs these are.
            write: returns whether to write the files of long jobs; a dry-run writes none.
        """
        self.grid, self.paths, self.data = grid, grid.paths, grid.config.data
        self.write = write

    # What a subclass declares

    def inputs(self, wc: Wildcards) -> dict[str, Files]:
        """Return the files that a job reads, by name."""
        raise NotImplementedError

    def spec(self, wc: Wildcards) -> Section | None:
        """Return the slice of the configuration that a job reads."""
        return None

    def modules(self, wc: Wildcards) -> Sequence[str]:
        """Return the dotted paths of the modules that a job runs: the stage's, and plug-ins."""
        return [self.module]

    def arguments(self, wc: Wildcards) -> dict[str, Any]:
        """Return other arguments of the function."""
        return {}

    @classmethod
    def run(cls, job: Job) -> dict[str, Any]:
        """Make the output; return facts for the manifest."""
        function = getattr(importlib.import_module(cls.module), cls.function.rpartition(".")[2])
        facts: dict[str, Any] = function(*cls.takes(job))
        return facts

    @staticmethod
    def finished(job: Job) -> None:
        """Clean up once the output and its manifest are on the disk."""

    # Files from outside the workflow

    def parser_folder(self, parser: str) -> str:
        """Return the folder of a parser's model, trained or given by path."""
        model = self.grid.parsers[parser].model
        return relative(Path(self.data, model)) if model else self.paths.parser(parser)

    def parser_files(self, parser: str) -> dict[str, Files]:
        """Return the manifest of a trained parser (``parser``), or the files of a given one."""
        folder = self.parser_folder(parser)
        if not self.grid.parsers[parser].model:
            return {"parser": [f"{folder}/{MANIFEST}"], "model": []}
        files = sorted(str(path) for path in Path(folder).rglob("*") if path.is_file())
        return {"parser": [], "model": files}

    def pretrained_folder(self, run: Run) -> Path | None:
        """Return the folder of a pretrained model; None if its path is an id on a hub."""
        return self.grid.model_folder(self.grid.pretrained_runs[run])

    def of_reader(self, package: str, entry: Source | Suite) -> list[str]:
        """Return the files from which a reader reads a source or suite."""
        reader = plugins.load(package, entry.reader)
        options = plugins.options(package, entry.reader, entry.options)
        try:
            files = reader.files(Path(self.data, entry.path or ""), options)
        except (OSError, PoshgridError):
            return []
        return [relative(file) for file in files]

    def trees(self, names: Iterable[str]) -> list[str]:
        """Return the files of treebanks: CoNLL-U files, folders, or the toy grammar."""
        paths = [
            path
            for name in names
            for path in (
                map(relative, toy.files())
                if name == treebank.TOY
                else treebank.files(Path(self.data, name))
            )
        ]
        return sorted(set(map(str, paths)))

    # Results of other rules

    def shards(self, corpus: str, parser: str) -> list[str]:
        """Return the trees of all shards of a corpus by a parser."""
        shards = range(self.grid.shards(corpus))
        return [self.paths.parses(corpus, parser, shard) for shard in shards]

    def labels(self, condition: str) -> list[str]:
        """Return the labels with which a condition is built: the deciding parser's, or []."""
        if not self.grid.needs_evidence(condition):
            return []
        corpus = self.grid.corpus_of(condition).name
        return [self.paths.evidence(corpus, self.grid.evidence_parsers()[0])]

    def whole(self, condition: str) -> str:
        """Return the sentences of a condition's corpus."""
        return self.paths.sentences(self.grid.corpus_of(condition).name)

    def tokenizer(self, condition: str, size: str) -> list[str]:
        """Return the file of a cell's tokenizer."""
        cell = self.grid.tokenizer_place(condition, size)
        return [f"{self.paths.tokenizer(*cell)}/tokenizer.json"]

    def items(self) -> dict[str, str]:
        """Return suite -> items, for the suites of pairs."""
        return {suite: self.paths.items(suite) for suite in self.grid.pairs}

    def model(self, run: Run) -> list[str]:
        """Return the files of a model; a manifest represents its whole folder."""
        if run.recipe not in SCORED:
            folder = self.paths.model(run.name)
            return [f"{folder}/{name}" for name in ("model.safetensors", "manifest.json")]
        own = self.pretrained_folder(run)
        return sorted(relative(p) for p in own.iterdir() if p.is_file()) if own else []

    def scores(self, runs: Iterable[Run], *suites: str) -> list[str]:
        """Return the scores of runs on suites."""
        return [self.paths.scores(run.name, suite) for run in runs for suite in suites]

    # Files of the package that are not Python

    def lexicon(self) -> list[str]:
        """Return the tables of the lexicon."""
        from poshgrid.benchmark.lexicon import LEXICON  # imported here because it reads a table

        return [relative(path) for path in sorted(LEXICON.glob("*.*"))]

    def word_lists(self, filters: Iterable[str]) -> list[str]:
        """Return the word lists of filters."""
        modules = [plugins.load(FILTERS, word) for word in filters]
        lists = [patterns.word_lists(getattr(module, "PATTERNS", {})) for module in modules]
        return [str(path) for paths in lists for path in paths]

    # What rules read

    def written(self) -> list[str]:
        """Return the files that a job writes, with wildcards: the rule's ``output``."""
        folder = self.output.replace("{results}", self.grid.config.results)
        return [f"{folder}/{name}" for name in (*self.outputs, MANIFEST)]

    def read(self, wildcards: Wildcards) -> list[str]:
        """Return the files that a job reads: the rule's ``input``."""
        return [file for files in self.inputs(wildcards).values() for file in flat(files)]

    @property
    def log(self) -> str:
        """The log file of a job, with wildcards."""
        path = self.output.removeprefix("{results}")
        return self.paths.log(self.name, path[path.find("{") :] if "{" in path else self.name)

    @property
    def resources(self) -> dict[str, Any]:
        """Memory and minutes of a job, which grow with each attempt."""
        return {"mem_mb": growing(self.memory_mb), "runtime": growing(self.minutes)}

    def describe(self, wc: Wildcards) -> dict[str, Any]:
        """Return the object that describes a job on its command line."""
        inputs = self.inputs(wc)
        spec, arguments = self.spec(wc), self.arguments(wc)
        outside = [file for name in self.external for file in flat(inputs.get(name, []))]
        wildcards = {name: str(value) for name, value in wc.items()}
        return {
            "code": fingerprint.code(*self.modules(wc)),
            "files": fingerprint.content(outside),
            "inputs": inputs,
            "output": self.output.format(results=self.grid.config.results, **wildcards),
            "results": self.grid.config.results,
            "wildcards": wildcards,
            **({"arguments": arguments} if arguments else {}),
            **({"data": self.grid.config.data} if self.reads_data else {}),
            **({"spec": spec.written()} if spec is not None else {}),
        }

    def job(self, wildcards: Wildcards) -> str:
        """Return a job as text, or ``@FILE`` if the text is long."""
        text = json.dumps(self.describe(wildcards), sort_keys=True, separators=(",", ":"))
        if len(text.encode()) <= MAX_ARGUMENT:
            return text
        name = hashlib.sha256(text.encode()).hexdigest()[:16]
        path = Path(self.paths.arguments(), f"{name}.json")
        LONG_JOBS[f"@{path}"] = text
        if self.write() and not path.exists():
            write_text(path, text)
        return f"@{path}"


def _files_of(path: Path) -> list[Path]:
    """Return an input; for a manifest, all files of its folder."""
    return (
        [file for file in path.parent.rglob("*") if file.is_file()]
        if path.name == MANIFEST
        else [path]
    )


def load(text: str) -> dict[str, Any]:
    """Return a job from its text, or from the file named by ``@FILE``.

    Raises:
        PoshgridError: the file does not exist, or does not hold a job.
    """
    try:
        if text.startswith("@"):
            text = Path(text[1:]).read_text(encoding="utf-8")
        job = json.loads(text)
    except (OSError, ValueError) as error:
        raise PoshgridError(
            f"job: cannot read {text[:60]}: {error}; copy the whole command (`poshgrid run -p`)"
        ) from error
    if not isinstance(job, dict) or not {"output", "inputs", "results"} <= job.keys():
        raise PoshgridError(f"job: {text[:60]}: not a job; copy the whole command")
    return job


def run(stage: type[Stage], text: str, threads: int = 1) -> None:
    """Run a job and write its manifest; a costly stage may reuse its last outputs.

    Inputs that differ from what their stages wrote raise an error.

    Args:
        stage: stage of the job.
        text: the job.
        threads: number of processes, which does not change the result.
    """
    content = load(text)
    spec = None
    if stage.Spec is not None:
        spec = parse(stage.Spec, json.dumps(content.get("spec", {})))
    job = Job(
        spec=spec,
        inputs=content["inputs"],
        arguments=content.get("arguments", {}),
        output=Path(content["output"]),
        data=Path(content.get("data", "data")),
        wildcards=content.get("wildcards", {}),
        paths=Paths(content["results"]),
        threads=threads,
    )
    inputs = [file for name in job.inputs for path in job.files(name) for file in _files_of(path)]
    manifest = job.output / MANIFEST
    digest = content.get("code", "")
    if content.get("files"):
        digest = f"{digest}-{content['files']}"
    asked = spec.written() if spec is not None else None
    costly = stage.costly and bool(digest)  # without a digest a person runs it, with any files
    with adopt.held(manifest) if costly else nullcontext() as kept:
        checked = verification.check(inputs) if kept else {}
        if not kept or not adopt.take(kept, manifest, spec=asked, code=digest, inputs=checked):
            declared = [file for files in job.inputs.values() for file in flat(files)]
            with recorded(
                manifest, spec=asked, code=digest, inputs=inputs, editable=stage.editable,
                reads=verification.reads(manifest, declared, job.paths.results),
            ) as facts:  # fmt: skip
                if spec is not None:
                    facts["settings"] = spec.model_dump(mode="json")
                facts.update(stage.run(job))
            if kept:
                adopt.keep(kept, manifest)
        stage.finished(job)
