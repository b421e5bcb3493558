"""Digests of what Snakemake does not see: the code that a job runs, and the files of others.

Snakemake sees neither the modules that a command imports nor their imports. ``code("poshgrid.x")``
is a digest of the syntax trees of a module and of every poshgrid module that it imports, without
comments, docstrings and layout: rewording a docstring reruns nothing. Imports that are only for
type checkers do not count.

:data:`EXEMPT` lists the modules that are left out, with the reason. A test runs every stage and
fails if a function runs that is neither digested nor on that list.

Snakemake compares the times of files. It does not see a corpus, suite, model or word list that was
replaced by an older one, or a link that now leads to another file. So each job also has a digest of
the content of its files that no job writes (:func:`content`).

Digests are cached in the user's cache folder, those of code by the contents of the modules, those
of files by their size and times: parsing hundreds of modules, or reading a corpus, would take
longer than everything else that Snakemake does when nothing is to be run. ``XDG_CACHE_HOME`` moves
the cache. A cache that cannot be read, or that holds anything but strings, counts as empty. If it
cannot be written, the digests are computed again next time.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import json
import os
import stat
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from poshgrid.core import files, plugins, resources
from poshgrid.core.errors import PoshgridError
from poshgrid.core.verification import sha256

PACKAGE = "poshgrid"
ROOT = Path(__file__).parents[1]
SHIPPED = tuple(f"{folder}/" for folder in (resources.ROOT, resources.STUDIES, ROOT.resolve()))
"""Folders of word lists, published numbers and pages that come with the package."""
_CONTENTS = "contents"  # name of the cache of files' digests
_FRESH = 2.0  # seconds: a second change within them may leave the file's times as they are
DECLARATIONS = ("base", "corpora", "evaluation", "known", "models", "specs")
"""Modules of ``poshgrid.config`` that only declare keys; stages read them from their spec."""
EXEMPT = {
    "poshgrid": "opens results for analysis; no stage calls it",
    "poshgrid.__main__": "starts the command line",
    "poshgrid.cli": "starts the command line",
    "poshgrid.commands.*": "parses arguments; stages do not run it",
    "poshgrid.stages.*": "passes a job's files and spec to the function of its room",
    "poshgrid.config": "declares keys: their values are in the spec",
    **{
        f"poshgrid.config.{name}": "declares keys: their values are in the spec; "
        "validators accept or refuse"
        for name in DECLARATIONS
    },
    "poshgrid.config.paths": "where results are: jobs name their inputs and outputs",
    "poshgrid.core.errors": "text of errors",
    "poshgrid.core.logs": "log lines and progress bars",
    "poshgrid.grid.*": "decides which jobs there are; its answers are their arguments",
    **{
        f"poshgrid.core.{name}": "keeps records, locks and copies of what a stage wrote"
        for name in ("adopt", "fingerprint", "lock", "manifest")
    },
}
"""Module, or whole package with ``.*`` -> why it is not part of a digest."""
RUN_BY_ALL = ("poshgrid.config.sizes", "poshgrid.core.files", "poshgrid.core.plugins")
"""Modules that every command runs."""


def exempt(module: str) -> bool:
    """Return whether a module is left out of digests (:data:`EXEMPT`)."""
    names = [module, f"{module}.*", *(f"{name}.*" for name in _parents(module))]
    return any(name in EXEMPT for name in names)


@functools.cache
def code(*modules: str) -> str:
    """Return a 16-digit digest of the modules' :func:`closure`.

    Args:
        modules: dotted names, e.g. ``"poshgrid.models.training.train"``.

    Raises:
        FileNotFoundError: a module does not exist.
    """
    names = closure(*modules)
    key = _sha("\n".join(f"{module} {_sha(source(module))}" for module in names))
    digests = _cached(_cache_name())
    if key not in digests:
        trees = "".join(f"{module}\n{_tree(source(module))}\n" for module in names)
        digests[key] = _sha(trees)[:16]
        save(_cache_name(), digests)
    return digests[key]


def closure(*modules: str) -> list[str]:
    """Return the modules to digest: the given ones, all that they import, and their packages.

    Raises:
        FileNotFoundError: a module does not exist.
    """
    closed: set[str] = set()
    pending = [*modules, *RUN_BY_ALL]
    while pending:
        module = pending.pop()
        if module not in closed and not exempt(module):
            closed.add(module)
            pending.extend((*imports(module), *_parents(module)))
    return sorted(closed)


def _parents(module: str) -> Iterator[str]:
    """Yield the packages that contain a module; their ``__init__`` runs before it."""
    while (module := module.rpartition(".")[0]) != "":
        yield module


def imports(module: str) -> frozenset[str]:
    """Return the poshgrid modules that a module imports, at its top or inside functions."""
    package = module.rpartition(".")[0]
    return frozenset(name for name in _imported(package, source(module)) if _file(name) is not None)


@functools.cache
def _imported(package: str, text: str) -> list[str]:
    """Return the names from the package that a source imports: modules, and names in modules."""
    key, known = f"imports {package} {_sha(text)}", _cached(_cache_name())
    if key not in known:
        names: set[str] = set()
        for node in _running(ast.parse(text)):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                name = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
                names.add(name)
                # `from poshgrid.x import y`: y may be a module
                names.update(f"{name}.{alias.name}" for alias in node.names)
        known[key] = " ".join(sorted(name for name in names if name.split(".")[0] == PACKAGE))
    return known[key].split()


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all nodes below it, except those that only type checkers read."""
    yield node
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.If) and ast.unparse(inner.test) == "TYPE_CHECKING":
            inner.body = []
        yield from _running(inner)


@functools.cache
def _tree(text: str) -> str:
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [part for part in node.body if not _is_docstring(part)]
    return ast.dump(tree)


def _is_docstring(node: ast.stmt) -> bool:
    """Return whether a statement is only a text: a docstring, also that of a constant."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


@functools.cache
def source(module: str) -> str:
    """Return the text of a module's file.

    Raises:
        FileNotFoundError: it does not exist.
    """
    path = _file(module)
    if path is None:
        raise FileNotFoundError(f"no module {module}")
    return path.read_text(encoding="utf-8")


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def _cache_name() -> str:
    """Return the name of the cache of code's digests, of this Python and this module."""
    return f"fingerprint-{_sha(sys.version + Path(__file__).read_text(encoding='utf-8'))[:16]}"


@functools.cache
def _file(module: str) -> Path | None:
    parts = module.split(".")[1:]
    for path in (ROOT.joinpath(*parts).with_suffix(".py") if parts else None,
                 ROOT.joinpath(*parts, "__init__.py"),
                 plugins.own(module).with_suffix(".py")):  # fmt: skip
        if path is not None and path.is_file():
            return path
    return None


def content(paths: Iterable[str]) -> str:
    """Return a digest (32 hex digits) of the content of files; "" without files.

    Args:
        paths: inputs of a job. A file that is missing or cannot be read is left out: the job
            itself reports it.
    """
    now = digests(sorted(set(paths)))
    # The data folder and the package may be moved, each on its own
    shipped = {path for path in now if os.path.abspath(path).startswith(SHIPPED)}  # noqa: PTH100
    names = _names(shipped) | _names(now.keys() - shipped)
    lines = sorted(f"{names[path]} {digest}" for path, digest in now.items())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32] if lines else ""


def _names(paths: Collection[str]) -> dict[str, str]:
    """Return path -> the path relative to the folder that all of them share."""
    folders = {os.path.dirname(os.path.abspath(path)) for path in paths}  # noqa: PTH100, PTH120
    above = os.path.commonpath(folders) if folders else ""
    return {path: os.path.relpath(path, above) for path in paths}


def digests(paths: Iterable[str]) -> dict[str, str]:
    """Return path -> SHA-256 digest of each file that exists and can be read."""
    known_digests, lasting = {}, {}
    for path in paths:
        absolute = os.path.abspath(path)  # noqa: PTH100
        with suppress(OSError):
            status = Path(absolute).stat()
            if not stat.S_ISREG(status.st_mode):  # reading a device might never end
                continue
            times = status.st_mtime_ns, status.st_ctime_ns
            state = " ".join(map(str, (status.st_size, *times, status.st_ino)))
            known = _cached(_CONTENTS).get(absolute, "")
            if not known.startswith(f"{state} "):
                known = _cached(_CONTENTS)[absolute] = f"{state} {sha256(absolute)}"
                if time.time() - max(times) / 1e9 > _FRESH:
                    lasting[absolute] = known
            known_digests[path] = known.rpartition(" ")[2]
    if lasting:  # loaded again: another process may have added files
        save(_CONTENTS, load(_CONTENTS) | lasting)
    return known_digests


@functools.cache
def _cached(name: str) -> dict[str, str]:
    """Return the content of a file in the cache, as this process knows it: :func:`load`."""
    return load(name)


def load(name: str) -> dict[str, str]:
    """Return the content of a file in the cache; empty if it cannot be read.

    Args:
        name: of the file, without its suffix.
    """
    try:
        content = json.loads(_cache(name).read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(content, dict) or {type(value) for value in content.values()} - {str}:
        return {}
    return content


def save(name: str, content: dict[str, str]) -> None:
    """Write a file in the cache; see :func:`load`."""
    with suppress(OSError, PoshgridError):  # nobody may write there, or the disk is full
        files.write_json(_cache(name), content)


def _cache(name: str) -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - raises nothing
    return Path(cache, "poshgrid", f"{name}.json")
