"""`poshgrid explain-filter`: a sentence's tree, and what filters make of it."""

import pytest

from poshgrid.core.errors import PoshgridError
from tests.unit.evidence.test_recall import conllu


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [(["Ida sings.", "--filter", "drop-artcles"], "did you mean 'drop-articles'"),
     (["Ida sings.", "--filter", "binding.paged"], "--filter: ")],
)  # fmt: skip
def test_what_cannot_be_shown_is_told(ask, arguments, reason):
    answer = ask(*arguments)
    assert isinstance(answer.exception, PoshgridError)
    assert reason in str(answer.exception)


def test_gold_trees_are_shown(shown, tmp_path):
    path = tmp_path / "gold.conllu"
    path.write_text(conllu({"Give me it": ("iobj", "")}))
    lines = shown(path, "--filter", "passive", "--filter", "binding.direct").splitlines()
    assert lines[0].split() == ["1", "Give", "X", "root", "-", "_"]
    assert [line for line in lines[4:] if not line.startswith("  ")] == ["passive", "binding", ""]
    assert not any("removed" in line for line in lines)
