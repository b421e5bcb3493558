"""A digest of the code that a job runs, so that editing a module reruns the jobs that use it.

Snakemake sees neither the modules that a command imports nor their imports. ``code("poshgrid.x")``
is a digest of the syntax trees of a module and of every poshgrid module that it imports, without
comments, docstrings and layout: rewording a docstring reruns nothing.

The infrastructure (configuration, names, logs, error classes) is left out: what of it matters to a
job reaches the job as a parameter or a path, which Snakemake compares by itself.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from pathlib import Path

PACKAGE = "poshgrid"
ROOT = Path(__file__).parents[1]
INFRASTRUCTURE = frozenset(
    f"{PACKAGE}{name}"
    for name in (
        "", ".cli", ".config", ".errors", ".files", ".grid", ".grid.arguments", ".grid.configfile",
        ".grid.grid", ".grid.paths", ".grid.slices", ".grid.specs", ".logs", ".plugins",
        ".provenance", ".provenance.fingerprint", ".provenance.manifest",
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
    digest = hashlib.sha256()
    for module in sorted(closure):
        digest.update(f"{module}\n{_tree(module)}\n".encode())
    return digest.hexdigest()[:16]


@functools.cache
def imports(module: str) -> frozenset[str]:
    """Return the poshgrid modules that a module imports, at its top or inside functions."""
    found: set[str] = set()
    for node in ast.walk(_parse(module)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module)
            # `from poshgrid.x import y`: y may be a module
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return frozenset(
        name for name in found if name.split(".")[0] == PACKAGE and _file(name) is not None
    )


@functools.cache
def _tree(module: str) -> str:
    tree = _parse(module)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and ast.get_docstring(node, clean=False) is not None
        ):
            node.body = node.body[1:]
    return ast.dump(tree)


@functools.cache
def _parse(module: str) -> ast.Module:
    path = _file(module)
    if path is None:
        raise FileNotFoundError(f"no module {module}")
    return ast.parse(path.read_text(encoding="utf-8"))


def _file(module: str) -> Path | None:
    parts = module.split(".")[1:]
    for path in (ROOT.joinpath(*parts).with_suffix(".py") if parts else None,
                 ROOT.joinpath(*parts, "__init__.py")):  # fmt: skip
        if path is not None and path.is_file():
            return path
    return None
