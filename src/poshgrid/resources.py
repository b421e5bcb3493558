"""Where the files of ``resources/`` lie: the package is used from a checkout."""

from __future__ import annotations

from pathlib import Path

from poshgrid.errors import PoshgridError

ROOT = Path(__file__).resolve().parents[2] / "resources"


def path(*parts: str) -> Path:
    """Return a file or folder below ``resources/``.

    Raises:
        PoshgridError: it does not exist, e.g. because the package was installed without its
            checkout.
    """
    found = ROOT.joinpath(*parts)
    if not found.exists():
        raise PoshgridError(
            f"{found}: not found; install poshgrid from a checkout with `pip install -e .`"
        )
    return found
