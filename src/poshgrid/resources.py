"""Files that are no code: ``resources/``, the Snakefile, ``workflow/``, configurations, profiles.

They lie at the top of a checkout, where ``poshgrid/share`` links to them. A wheel holds copies.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from poshgrid.errors import PoshgridError

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
    """Return the files of a study that have such a path: ``published/*/numbers.csv``.

    A study is a folder of the package's ``studies``, or of ``studies`` in the working folder, whose
    files stand for those of the package that have the same place.
    """
    homes = (STUDIES, Path("studies").resolve())
    files = {p.relative_to(home): p for home in homes for p in home.glob(f"{name}/{pattern}")}
    return sorted(files.values())


def shipped(*parts: str) -> Path:
    """Return a file or folder that comes with the package, by its path in a checkout.

    Raises:
        PoshgridError: it does not exist, e.g. because links were lost when a checkout was copied.
    """
    file = ROOT.parent.joinpath(*parts)
    if not file.exists():
        raise PoshgridError(f"{file}: not found; install poshgrid again")
    return file
