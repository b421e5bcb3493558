"""What tests of commands share: a module's fixture ``ask`` runs its command."""

import pytest
import yaml
from typer.testing import CliRunner

from poshgrid.cli import app
from tests import shipped


@pytest.fixture
def shown(ask):
    """The text that is printed."""

    def run(*arguments, **options):
        answer = ask(*arguments, **options)
        assert answer.exception is None, answer.exception
        return answer.stdout

    return run


@pytest.fixture
def ask(root, tmp_path):
    """Run explain-filter on the toy study with this test's results; its parser needs no model."""
    config = shipped.toy()
    config |= {
        "results": str(tmp_path / "results"), "data": str(tmp_path),
        "suites": [{"name": name, "reader": "pairs", "path": name} for name in ("blimp", "other")],
        "parsers": [{"name": "words", "engine": "words", "model": str(root / "config")},
                    {"name": "spacy-long", "engine": "spacy",
                     "model": str(tmp_path / "nowhere")}],
        "evidence": {"parser": "words", "compare": []},
    }  # fmt: skip
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(config))
    words = ["explain-filter", "--config", str(path)]
    return lambda *arguments: CliRunner().invoke(app, words + list(map(str, arguments)))
