"""Commands for people: the configurations that they take."""

import ast

import yaml
from typer.testing import CliRunner

from poshgrid.cli import app
from poshgrid.commands.base import PAPER


def said(*arguments):
    found = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.output.splitlines()


def test_the_configuration_where_none_is_named_is_the_snakefiles_and_written_once(root):
    rules = (root / "workflow/rules/common.smk").read_text(encoding="utf-8")
    assert f'configfile: "{PAPER}"' in rules
    places = [
        path.name
        for path in sorted((root / "src/poshgrid").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value == str(PAPER)
    ]
    assert places == ["base.py"]


def test_an_overlay_is_laid_over_a_configuration(root, tmp_path):
    tiny, overlay = root / "config/tiny.yaml", tmp_path / "overlay.yaml"
    cell = {"conditions": ["wiki"], "sizes": ["20K"], "learners": ["gpt2-tiny"]}
    overlay.write_text(yaml.safe_dump({
        "experiments": [{"name": "one", "regimen": "packed", "seeds": [7], **cell}],
        "results": "elsewhere", "data": str(tmp_path),
    }))  # fmt: skip
    assert said("runs", str(tiny), str(overlay)) == [
        "elsewhere/models/wiki/20K/gpt2-tiny/packed/none/seed7"
    ]
    assert len(said("runs", str(tiny))) > 1
    assert said("sources", str(tiny), str(overlay)) != said("sources", str(tiny))
