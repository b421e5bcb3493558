"""The digits of a run: equal for equal runs, others for others, and the same in every version."""

from __future__ import annotations

import hashlib
import json

from poshgrid.training import identity
from tests.unit.training.training_support import regimen, train_spec

FACTS = {"ids": "abc", "tokenizer": {"digest": "d", "size": 300}}


def test_whatever_decides_the_weights_changes_the_digits_and_its_order_does_not(tmp_path):
    spec = train_spec(regimen())
    (tmp_path / "statistics.json").write_text('{"digest": "x", "trees": 3}')
    with_trees = identity.of_run(spec, FACTS, tmp_path)
    runs = [
        identity.of_run(spec, FACTS),
        with_trees,
        identity.of_run(spec, FACTS | {"ids": "abd"}),
        identity.of_run(train_spec(regimen(), seed=53), FACTS),
        identity.of_run(train_spec(regimen(), bias="recency"), FACTS),
        identity.of_run(spec, FACTS) | identity.of_machine("cpu"),
        identity.of_run(spec, FACTS) | identity.of_machine("cuda"),
    ]
    assert len({identity.digits(each) for each in runs}) == len(runs)
    (tmp_path / "statistics.json").write_text('{"trees": 3, "digest": "x"}')
    facts = {"tokenizer": {"size": 300, "digest": "d"}, "ids": "abc"}
    again = identity.of_run(spec, facts, tmp_path)
    assert again == with_trees
    assert identity.digits(dict(reversed(again.items()))) == identity.digits(with_trees)


def test_checkpoints_of_a_finished_run_go_and_those_of_other_settings_stay(tmp_path):
    model, specs = tmp_path / "model", [train_spec(regimen(), seed=seed) for seed in (42, 53)]
    for name, spec, place in (("mine", specs[0], model), ("seed", specs[1], model),
                              ("model", specs[0], tmp_path / "other")):  # fmt: skip
        (tmp_path / "all" / name).mkdir(parents=True)
        identity.write(tmp_path / "all" / name, place, identity.of_run(spec, FACTS))
    (tmp_path / "all" / "broken").mkdir()
    (tmp_path / "all" / "broken" / identity.NOTE).write_text("[]")
    identity.clear(tmp_path / "all", model, specs[0])
    assert {path.name for path in (tmp_path / "all").iterdir()} == {"seed", "model", "broken"}


def test_a_bias_brings_its_code():
    words = ("none", "recency", "dyck+recency")
    assert len({identity.code(train_spec(regimen(), bias=word)) for word in words}) == 3


def test_digits_are_those_of_every_version():
    """A folder of checkpoints that is named otherwise is not gone on from."""
    text = json.dumps({"code": "b", "spec": "a"})
    expected = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert identity.digits({"spec": "a", "code": "b"}) == expected
