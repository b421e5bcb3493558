"""Hours and disk of training, worked by hand."""

import json
from pathlib import Path

import pytest

from poshgrid.core.errors import PoshgridError
from poshgrid.grid.grid import Grid
from poshgrid.planning import costs as module
from poshgrid.planning.costs import Costs, speeds


def costs_of(config, folder, device="h100"):
    return Costs(Grid(config.model_copy(update={"results": str(folder)})), device)


def run_of(costs, **axes):
    return next(r for runs in costs.grid.targets.values() for r in runs
                if all(getattr(r, k) == v for k, v in axes.items()))  # fmt: skip


def test_training_by_hand(paper, tmp_path):
    costs = costs_of(paper, tmp_path)
    packed = run_of(costs, model="gpt2-mini", recipe="packed")
    # gpt2-mini: width 512, 4 layers, 32,768 types, 512 positions: attention and feed-forward have
    # 12 w^2 weights and 13 w of biases and norms a layer
    layers, embeddings = 4 * (12 * 512**2 + 13 * 512), (32_768 + 512) * 512
    flops = 6 * (4 * 12 * 512**2 + 32_768 * 512) + 12 * 4 * 512 * 512 / 2
    assert costs.size(packed) == (layers + embeddings + 2 * 512, flops)
    assert costs.tokens(packed) == 100_000 * 32 * 512
    # float32 on an H100: a row of the table
    assert costs.hours(packed) == pytest.approx(1_638_400_000 / 229_472 / 3600, rel=1e-3)
    on_core = costs_of(paper, tmp_path, "cpu").hours(packed)
    assert on_core == pytest.approx(1_638_400_000 / 345 / 3600, rel=1e-3)
    # sentences: ten epochs of 10M words at 1.3 tokens; dyck: 2,000 steps of 8 rows of 2,048 more
    plain = run_of(costs, recipe="sentence", bias="none", size="10M")
    dyck = run_of(costs, recipe="sentence", bias="dyck+recency", size="10M")
    assert costs.tokens(plain) == pytest.approx(130e6)
    assert (costs.bias_tokens(plain), costs.bias_tokens(dyck)) == (0, 2_000 * 8 * 2_048)
    path = Path(costs.grid.paths.tokens(plain.condition, plain.size), "statistics.json")
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"train": {"tokens": 7_000, "sentences": 900}}))
    assert costs.tokens(plain) == 10 * 7_000  # counted ones replace assumed ones
    # 223 M FLOPs a token: nearer to gpt2-mini's 182 M than to gpt2-small's 689 M
    small = run_of(costs, model="gpt2-xs", recipe="packed")
    rate = 229_472 * 182.5e6 / costs.size(small)[1]
    assert costs.hours(small) == pytest.approx(costs.tokens(small) / rate / 3600)


@pytest.mark.parametrize(("kept", "tokens"), [(1, 130e6), (0.8, 104e6), (1e6, 130e6)])
def test_sentences_that_are_not_kept_cost_nothing(paper, tmp_path, kept, tokens):
    """Of a number of sentences the words are not known: at most those of the size."""
    costs = costs_of(paper, tmp_path)
    run = run_of(costs, recipe="sentence", bias="none", size="10M")
    condition = costs.grid.conditions[run.condition]
    costs.grid.conditions[run.condition] = condition.model_copy(update={"downsample": kept})
    assert costs.tokens(run) == pytest.approx(tokens)


def test_a_device_without_a_speed_is_an_error(paper, tmp_path, monkeypatch):
    with pytest.raises(PoshgridError, match="v100"):
        costs_of(paper, tmp_path, "V100")
    only = [row for row in speeds() if row.precision == "bf16"]
    monkeypatch.setattr(module, "speeds", lambda: only)
    costs = Costs(Grid(paper), "h100")
    with pytest.raises(PoshgridError, match="float32"):
        costs.hours(run_of(costs, recipe="packed"))
