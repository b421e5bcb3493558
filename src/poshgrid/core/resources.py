"""Files that are not code: ``resources/``, the Snakefile, ``workflow/``, configurations, profiles.

They are at the top of a checkout; ``poshgrid/share`` links to them. A wheel holds copies.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from poshgrid.core.errors import PoshgridError

ROOT = Path(str(files("poshgrid") / "share" / "resources")).resolve()
"""The folder ``resources``."""
STUDIES = ROOT.parent / "studies"


def path(*parts: str) -> Path:
    """Return a file or folder below ``resources/``.

    Raises:
        PoshgridError: it does not exist.
    """
    return shipped("resources", *parts)


def study(name: str, pattern: str) -> list[Path]:
    """Return the files of a study that match a pattern, e.g. ``published/*/numbers.csv``.

    A study is a folder in the package's ``studies``, or in ``studies`` of the working folder. Files
    of the latter replace those of the package with the same path.
    """
    homes = (STUDIES, Path("studies").resolve())
    files = {p.relative_to(home): p for home in homes for p in home.glob(f"{name}/{pattern}")}
    return sorted(files.values())


def shipped(*parts: str) -> Path:
    """Return a file or folder that is installed with the package, by its path in a checkout.

    Raises:
        PoshgridError: it does not exist, e.g. because links were lost when a checkout was copied.
    """
    file = ROOT.parent.joinpath(*parts)
    if not file.exists():
        raise PoshgridError(f"{file}: not found; install poshgrid again")
    return file
