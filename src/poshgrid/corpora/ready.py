"""Where the texts of a condition from ready files lie."""

from __future__ import annotations

from pathlib import Path

from poshgrid.config.runs import SPLITS


def place(prebuilt: str, size: str) -> str:
    """Return the folder of a size's files: where ``{size}`` stands in the name, or below it."""
    return prebuilt.replace("{size}", size) if "{size}" in prebuilt else f"{prebuilt}/{size}"


def files(folder: Path) -> dict[str, Path]:
    """Return the file of each split: ``train.txt``, or the one text in the folder ``train``.

    The second is how the published code of POSH-BENCH reads its corpora (``10Mf/train/10Mf.txt``).
    A split without a file, or with several, is left out.
    """
    found = {}
    for split in SPLITS:
        flat = folder / f"{split}.txt"
        texts = [flat] if flat.is_file() else sorted((folder / split).glob("*.txt"))
        if len(texts) == 1:
            found[split] = texts[0]
    return found
