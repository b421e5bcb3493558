"""A digest of the code that a job runs, so that editing a module reruns the jobs that use it.

Snakemake sees neither the modules that a command imports nor their imports. ``code("poshgrid.x")``
is a digest of the syntax trees of a module and of every poshgrid module that it imports, without
comments, docstrings and layout: rewording a docstring reruns nothing.

The infrastructure (configuration, names, logs, error classes) is left out: what of it matters to a
job reaches the job as a parameter or a path, which Snakemake compares by itself.

What was found is kept in the user's cache, by what the files hold: to parse hundreds of modules
takes longer than all else that Snakemake does where there is nothing to do.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import sys
from pathlib import Path

from poshgrid import plugins
from poshgrid.provenance import kept

PACKAGE = "poshgrid"
ROOT = Path(__file__).parents[1]
INFRASTRUCTURE = frozenset(
    f"{PACKAGE}{name}"
    for name in (
        "", ".cli", ".config", ".config.paths", ".config.specs", ".errors", ".files", ".grid",
        ".grid.arguments", ".grid.configfile", ".grid.grid", ".grid.slices", ".logs", ".plugins",
        ".provenance", ".provenance.fingerprint", ".provenance.kept", ".provenance.manifest",
        ".verification",
    )
)  # fmt: skip


def code(*modules: str) -> str:
    """Return a 16-digit digest of the modules and of all they import inside the package.

    Args:
        modules: dotted names, e.g. ``"poshgrid.training.train"``.

    Raises:
        FileNotFoundError: a module does not exist.
    """
    closure: set[str] = set()
    pending = list(modules)
    while pending:
        module = pending.pop()
        if module not in closure:
            closure.add(module)
            pending.extend(imports(module) - INFRASTRUCTURE)
    names = sorted(closure)
    key = _sha("\n".join(f"{module} {_sha(_source(module))}" for module in names))
    found = _kept()
    if key not in found:
        trees = "".join(f"{module}\n{_tree(module)}\n" for module in names)
        found[key] = _sha(trees)[:16]
        kept.write(_name(), found)
    return found[key]


def imports(module: str) -> frozenset[str]:
    """Return the poshgrid modules that a module imports, at its top or inside functions."""
    return frozenset(name for name in _imported(module) if _file(name) is not None)


@functools.cache
def _imported(module: str) -> list[str]:
    """Return the names of the package that a module imports: modules, and what they hold."""
    package = module.rpartition(".")[0]
    key, known = f"imports {package} {_sha(_source(module))}", _kept()
    if key not in known:
        found: set[str] = set()
        for node in ast.walk(ast.parse(_source(module))):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                name = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
                found.add(name)
                # `from poshgrid.x import y`: y may be a module
                found.update(f"{name}.{alias.name}" for alias in node.names)
        known[key] = " ".join(sorted(name for name in found if name.split(".")[0] == PACKAGE))
    return known[key].split()


@functools.cache
def _tree(module: str) -> str:
    tree = ast.parse(_source(module))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and ast.get_docstring(node) is not None
        ):
            node.body = node.body[1:]
    return ast.dump(tree)


@functools.cache
def _source(module: str) -> str:
    path = _file(module)
    if path is None:
        raise FileNotFoundError(f"no module {module}")
    return path.read_text(encoding="utf-8")


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def _kept() -> dict[str, str]:
    """Return what this module, under this Python, has found before."""
    return kept.read(_name())


@functools.cache
def _name() -> str:
    """Return where that is kept: another Python or another state of this module, another place."""
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
