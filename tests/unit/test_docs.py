"""The documentation says what the code does."""

from __future__ import annotations

import importlib
import re

import pytest

from poshgrid.config import Config

TABLES = [
    ("corpora", "SOURCE"),
    ("corpora", "SENTENCES"),
    ("parsing", "PARSES"),
    ("evidence", "CONDITION"),
    ("training", "TRAINING"),
    ("benchmark", "ITEMS"),
    ("evaluation", "SCORES"),
    ("statistics", "COUNTS"),
    ("statistics", "ACCURACY"),
    ("statistics", "SUMMARY"),
]


def documented(root):
    """The tables of docs/data.md: a list of (column, type) for each."""
    text = (root / "docs/data.md").read_text(encoding="utf-8")
    blocks = re.findall(r"\| column \| type \| what \|\n\|---\|---\|---\|\n((?:\|.*\n)+)", text)
    return [re.findall(r"^\| `([^`]+)` \| (\S+) \|", block, re.M) for block in blocks]


@pytest.mark.parametrize(("stage", "name"), TABLES)
def test_data_contracts_are_documented(root, stage, name):
    schema = getattr(importlib.import_module(f"poshgrid.{stage}.schema"), name)
    expected = [
        (column, str(kind() if isinstance(kind, type) else kind)) for column, kind in schema.items()
    ]
    assert expected in documented(root), f"docs/data.md: table {name} is missing or differs"


def test_every_key_of_the_configuration_is_documented(root):
    text = (root / "docs/configuration.md").read_text(encoding="utf-8")
    assert [key for key in Config.model_fields if f"`{key}`" not in text] == []


def test_links_lead_somewhere(root):
    for page in [root / "README.md", *(root / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if not link.startswith("http"):
                assert (page.parent / link).exists(), f"{page.name}: {link}"
