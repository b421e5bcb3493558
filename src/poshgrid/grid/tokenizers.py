"""Which tokenizer cuts a cell's text, and what it is trained on.

A cell has a tokenizer of its own, or one that all cells share. A condition that changes the
configuration's tokenizer has its own, whatever that is trained on.
"""

from __future__ import annotations

from poshgrid.config import words
from poshgrid.config.tokens import OWN
from poshgrid.errors import PoshgridError
from poshgrid.grid.definitions import check_names
from poshgrid.grid.grid import Grid


def place(grid: Grid, condition: str, size: str) -> tuple[str, str]:
    """Return what stands for condition and size in the path of a cell's tokenizer."""
    own = grid.conditions[condition].tokenizer or not grid.config.tokenizer.shared
    return (condition, size) if own else grid.paths.shared_tokenizer()


def folder(grid: Grid, condition: str, size: str) -> str:
    """Return the folder of a cell's tokenizer."""
    return grid.paths.tokenizer(*place(grid, condition, size))


def texts(grid: Grid, condition: str, size: str) -> list[tuple[str, str]]:
    """Return the cells that a tokenizer is trained on, by condition; none: it is a file's.

    Each condition at its largest size, which holds what smaller ones do.

    Args:
        grid: of the tokenizer.
        condition: in its :func:`place`.
        size: of the same.

    Raises:
        PoshgridError: it is to be trained on a condition that is not defined, or has no size.
    """
    given = grid.tokenizer_of(condition)
    if given.file:
        return []
    if given.trained_on == OWN:
        return [(condition, size)]
    usual = {c for e in grid.experiments.values() if e.default for c in e.dosed}
    used = usual or {run.condition for run in grid.every_run}
    names = sorted(used if isinstance(given.trained_on, str) else given.trained_on)
    check_names("tokenizer: trained_on", "condition", names, grid.conditions)
    return [(name, _largest(grid, name)) for name in names]


def _largest(grid: Grid, condition: str) -> str:
    """Return a condition's largest size, or that of its base if no experiment uses it."""
    sizes = {run.size for run in grid.every_run if run.condition == condition}
    sizes = sizes or set(grid.sizes(grid.base_of(condition).name))
    if not sizes:
        raise PoshgridError(
            f"tokenizer: trained_on: no experiment uses condition {condition!r}, nor another of "
            "its base: its size is not known; name one that is used"
        )
    return max(sizes, key=words)
