"""Labelled inputs: YAML beside the tests that read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


def read_cases(test: str, name: str) -> Any:
    """Return the content of ``cases/{name}.yaml`` beside a test file."""
    path = Path(test).parent / "cases" / f"{name}.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))
