"""The digits of a run: equal for equal runs, others for others, and the same in every version."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from poshgrid.files import read_json
from poshgrid.training import identity
from tests.unit.training.training_support import regimen, train_spec

FACTS = {"ids": "abc", "tokenizer": {"digest": "d", "size": 300}}


def turned(value: object) -> object:
    """Return the same JSON with its keys in another order."""
    if isinstance(value, dict):
        return {key: turned(of) for key, of in reversed(value.items())}
    return value


@pytest.fixture
def distances(tmp_path: Path) -> Path:
    (tmp_path / "statistics.json").write_text('{"digest": "x", "trees": 3}')
    return tmp_path


def test_the_order_of_facts_is_none_of_their_content(distances: Path) -> None:
    spec = train_spec(regimen())
    one = identity.of_run(spec, FACTS, distances)
    (distances / "statistics.json").write_text('{"trees": 3, "digest": "x"}')
    two = identity.of_run(spec, turned(FACTS), distances)
    assert one == two
    assert identity.digits(one) == identity.digits(turned(two))


def test_whatever_decides_the_weights_changes_the_digits(distances: Path) -> None:
    spec = train_spec(regimen())
    runs = [
        identity.of_run(spec, FACTS),
        identity.of_run(spec, FACTS, distances),
        identity.of_run(spec, FACTS | {"ids": "abd"}),
        identity.of_run(train_spec(regimen(), seed=53), FACTS),
        identity.of_run(spec, FACTS) | identity.of_machine("cpu"),
        identity.of_run(spec, FACTS) | identity.of_machine("cuda"),
    ]
    assert len({identity.digits(each) for each in runs}) == len(runs)


def test_a_bias_brings_its_code() -> None:
    plain, recency = (identity.code(train_spec(regimen(), bias=b)) for b in ("none", "recency"))
    both = identity.code(train_spec(regimen(), bias="dyck+recency"))
    assert len({plain, recency, both}) == 3


def test_digits_are_those_of_every_version() -> None:
    """A folder of checkpoints that is named otherwise is not gone on from."""
    decisive = {"spec": "a", "code": "b"}
    text = json.dumps({"code": "b", "spec": "a"})
    assert identity.digits(decisive) == hashlib.sha256(text.encode()).hexdigest()[:16]


def test_a_note_says_where_the_model_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    identity.write(tmp_path / "run", Path("models/a"), {"code": "b"})
    assert read_json(tmp_path / "run" / "run.json") == {
        "model": str(tmp_path / "models" / "a"), "decisive": {"code": "b"}
    }  # fmt: skip
