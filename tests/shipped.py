"""What the repository holds: configurations, which must hang together, tables and scripts."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import yaml

ROOT = Path(__file__).resolve().parents[1]
STUDIES = ("posh-bench", "direct-evidence", "fict", "babyberta", "parasitic-gaps", "babies")
OVERLAYS = {
    "tiny-null.yaml", "reference.yaml", "released.yaml", "babylm.yaml", "exp3-paper.yaml",
    "roberta.yaml", "gulordava.yaml", "tiny-linear.yaml",
}  # fmt: skip
"""Laid over another configuration, and none by themselves."""
TOY = ROOT / "studies/posh-bench/toy.yaml"
"""Every experiment of the paper, on two cores."""


def toy() -> dict[str, Any]:
    """Return the toy as data, which a test may change; no stage is without a job."""
    every = {"baselines": ["untrained", "unigram", "ngram"], "filtering": {"perplexity": True}}
    return yaml.safe_load(TOY.read_text(encoding="utf-8")) | every


def shipped() -> list[Path]:
    """Return every configuration, without those that are laid over another."""
    files = [*ROOT.glob("config/*.yaml"), *ROOT.glob("studies/*/*.yaml")]
    return sorted(p for p in files if p.name not in OVERLAYS and not p.is_symlink())


def script(path: Path) -> ModuleType:
    """Import a file that is in no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # as an import does
    spec.loader.exec_module(module)
    return module


def posh_table(name: str) -> pl.DataFrame:
    """Return a table of POSH-BENCH as printed, for the first version of its items."""
    path = ROOT / f"studies/posh-bench/published/v1/{name}.csv"
    return pl.read_csv(path, comment_prefix="#").with_columns(pl.col(pl.String).fill_null(""))


def shipped_name(path: Path) -> str:
    """Return the name of a configuration, as a test's."""
    return str(path.relative_to(ROOT).with_suffix(""))
