"""Which rule explains choices: shares, mixtures and what items tell apart."""

import zlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import optimize

from poshgrid.benchmark.items import with_regions
from poshgrid.benchmark.schema import ITEMS, PAIRS
from poshgrid.config import Scoring, specs
from poshgrid.config.paths import Paths
from poshgrid.evaluation.schema import SCORES
from poshgrid.evidence.schema import CONDITION
from poshgrid.files import read_table, write_table
from poshgrid.models.ngram import count
from poshgrid.rules import mixture, table
from poshgrid.rules.schema import IDENTIFIABILITY, MIXTURE, SHARES
from poshgrid.statistics import shares


def found(says, chose, sets=None, rules=None):
    """Return a phenomenon: what rules say (rules x pairs; nan: no say), choices (pairs x seeds)."""
    says, chose = np.array(says, float), np.array(chose, float)
    chose = chose[:, None] if chose.ndim == 1 else chose
    sets = np.arange(len(chose)) if sets is None else np.array(sets)
    names = {"suite": "s", "category": "c", "phenomenon": "p"}
    return shares.Phenomenon(names, sets, chose, rules or list("abcdefg"[: len(says)]), says)


# ---- the mixture ---------------------------------------------------------------------------------


def loglikelihood(weights, chosen, says):
    chance = weights @ np.vstack([says, np.full(says.shape[1], 0.5)])
    both = np.clip(np.stack([1 - chance, chance], -1), 1e-12, 1)
    return float((chosen * np.log(both)).sum())


@pytest.mark.parametrize("seed", range(6))
def test_weights_are_where_another_optimiser_finds_the_maximum(seed):
    generator = np.random.default_rng(seed)
    says = generator.choice([0, 0.5, 1], (3, 8))
    chosen = generator.integers(5, 40, (8, 2)).astype(float)
    mine = mixture.weights(chosen, says)
    assert mine.sum() == pytest.approx(1)
    assert (mine >= 0).all()
    theirs = optimize.minimize(
        lambda w: -loglikelihood(w, chosen, says), np.full(4, 0.25), method="SLSQP",
        bounds=[(0, 1)] * 4, constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-12, "maxiter": 500},
    )  # fmt: skip
    assert loglikelihood(mine, chosen, says) >= -theirs.fun - 0.01


def test_weights_worked_by_hand():
    # A rule that says "good" of everything, 80 of 100 chosen so: 60 follow it, 40 guess
    one = mixture.weights(np.array([[20, 80]]), np.array([[1.0]]))
    assert one == pytest.approx([0.6, 0.4], abs=1e-3)
    # ... 20 of 100: no weight is below 0
    assert mixture.weights(np.array([[80, 20]]), np.array([[1.0]])) == pytest.approx([0, 1])
    # Two rules on four kinds of pairs: one is followed half of the time, the other 30%
    says = np.array([[1, 1, 0, 0.5], [1, 0, 0.5, 1]])
    share = 0.5 * says[0] + 0.3 * says[1] + 0.2 * 0.5
    chosen = 1000 * np.stack([1 - share, share], -1)
    assert mixture.weights(chosen, says) == pytest.approx([0.5, 0.3, 0.2], abs=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_guessing_is_as_large_as_a_linear_program_finds(seed):
    """With rules that contradict each other, and more rules than kinds of pairs."""
    generator = np.random.default_rng(seed)
    one = generator.choice([0.0, 1.0], (2, 3))
    says = np.vstack([one, 1 - one])
    chosen = generator.integers(5, 40, (3, 2)).astype(float)
    mine = mixture.weights(chosen, says)
    chances = np.vstack([says, np.full(3, 0.5)])
    program = optimize.linprog(
        [0, 0, 0, 0, -1], A_eq=np.vstack([chances.T, np.ones(5)]),
        b_eq=[*(mine @ chances), 1],
    )  # fmt: skip
    assert mine[-1] == pytest.approx(program.x[-1], abs=1e-6)


def test_the_fewest_rules_that_are_surely_the_largest_are_named():
    assert mixture.named(np.array([0.02, 0.97, 0.01])).tolist() == [False, True, False]
    assert mixture.named(np.array([0.3, 0.66, 0.04])).tolist() == [True, True, False]
    assert mixture.named(np.array([0.0, 0.01, 0.99])).tolist() == [False, False, True]
    assert not mixture.named(np.full(3, np.nan)).any()


# ---- which rules are named -----------------------------------------------------------------------


def test_how_often_each_weight_is_the_largest_by_hand():
    """Twice alone, once with another, once none above a tenth; the last column is guessing."""
    replicates = np.array([[0.6, 0.4, 0], [0.4, 0.4, 0.2], [0.1, 0, 0.9], [0.12, 0, 0.88]])
    assert mixture.largest(replicates) == pytest.approx([2.5 / 4, 0.5 / 4, 1 / 4])
    assert np.isnan(mixture.largest(replicates[:0])).all()


def test_intervals_reach_as_far_to_either_side_by_hand():
    replicates = np.tile([0.3, 0.7], (5, 1))
    low, high = mixture.intervals(mixture.Mixture(np.array([0.1, 0.9]), replicates))
    assert (low.tolist(), high.tolist()) == (pytest.approx([0, 0.7]), pytest.approx([0.3, 1]))


def test_a_handful_of_sets_does_not_name_one_rule_of_two():
    """On nine sets the one has no say; on ten that is enough to tell."""
    for few, both in ((9, {"x", "y"}), (10, {"x"})):
        says = np.ones((2, 200))
        says[1, :few] = np.nan
        says[:, 100:] = 0
        chose = np.r_[np.ones(100), np.zeros(100)]
        for order in ([0, 1], [1, 0]):
            each = found(says[order], chose, rules=["xy"[n] for n in order])
            rows = shares.mixed(each, shares.times(each))
            assert {row["rule"] for row in rows if row["named"]} == both


def test_one_set_has_no_interval_and_names_nothing():
    each = found(np.ones((1, 4)), [1, 1, 1, 0], [0, 0, 0, 0])
    assert shares.times(each) is None
    (row, *_) = shares.shares(each, None)
    assert (row["low"], row["share"]) == (None, 0.75)
    rows = list(shares.mixed(each, None))
    assert [row["named"] for row in rows] == [False, False]
    assert rows[0]["weight"] == pytest.approx(0.5, abs=1e-3)


# ---- shares --------------------------------------------------------------------------------------


def test_shares_by_hand():
    nan = np.nan
    says = [[1, 1, 0, nan, 0.5], [0, 1, nan, nan, 1]]
    chose = np.array([[1, 1], [1, 0.5], [1, 1], [0, 0], [0, 0]])  # two seeds
    rows = {(r["rule"], r["scope"]): r for r in shares.shares(found(says, chose), None)}
    assert set(rows) == {("a", "all"), ("a", "disputed"), ("b", "all"), ("b", "disputed")}
    # a: pairs 0, 1, 2 (the last is a tie); seeds 2/3 and 1.5/3
    assert rows["a", "all"]["pairs"] == 3
    assert rows["a", "all"]["right"] == pytest.approx(2 / 3)  # it prefers the bad member of pair 2
    assert (rows["a", "disputed"]["right"], rows["b", "disputed"]["right"]) == (1, 0)
    assert rows["a", "all"]["share"] == pytest.approx((2 / 3 + 1.5 / 3) / 2)
    assert rows["a", "all"]["sd"] == pytest.approx(np.std([2 / 3, 1.5 / 3], ddof=1))
    # b: pairs 0, 1, 4
    assert rows["b", "all"]["share"] == pytest.approx((1 / 3 + 0.5 / 3) / 2)
    # Only on pair 0 do both have a say and disagree
    assert (rows["a", "disputed"]["share"], rows["b", "disputed"]["share"]) == (1, 0)
    assert rows["a", "disputed"]["pairs"] == rows["a", "disputed"]["sets"] == 1


def test_identifiability_counts_sets():
    nan = np.nan
    each = found([[1, 0, 1, 1, nan], [0, 1, 1, 0.5, 0]], np.ones(5), [0, 0, 1, 2, 3])
    assert list(shares.identifiable(each)) == [("a", "b", 2, 1)]
    says = [[1, 0, 1, 0, 1, nan, 0.5], [0, 1, 1, 0, 0.5, 0, 1]]
    assert list(shares.identifiable(found(says, np.ones(7)))) == [("a", "b", 4, 2)]
    # On one pair of a set they agree, on the other they do not
    each = found([[1, 1], [1, 0]], np.ones(2), [0, 0])
    assert list(shares.identifiable(each)) == [("a", "b", 1, 1)]


def test_draws_are_those_of_the_suite_and_the_phenomenon():
    each = found(np.ones((1, 4)), np.ones(4), [0, 0, 1, 2])
    drawn = shares.times(each)
    assert drawn.shape == (1_000, 3)
    assert (drawn.sum(axis=1) == 3).all()
    seed = [42, zlib.crc32(b"s\0c\0p")]  # published intervals go with these
    assert (drawn == np.random.default_rng(seed).multinomial(3, [1 / 3] * 3, 1_000)).all()


# ---- from files ----------------------------------------------------------------------------------

QUESTIONS = [
    ("Will the man who the boy did see leave?", "Did the man who the boy see will leave?"),
    ("Did the girl who the king will see run?", "Will the girl who the king see did run?"),
    ("Can the boy who the queen must help swim?", "Must the boy who the queen help can swim?"),
    ("Must the wife who the pilot can call eat?", "Can the wife who the pilot call must eat?"),
]


JOINT = (
    ("Who do you want to help the boy?", "Who do you wanna help the boy?"),
    ("When do you wanna help the boy?", "When do you want to help the boy?"),
)


@pytest.fixture
def results(tmp_path):
    """A results folder: items, what rules say, two seeds that front *did*, and counted nulls."""
    paths = Paths(str(tmp_path))
    kinds = {"q": ("question-formation", "qf", QUESTIONS), "j": ("wanna", "wanna", JOINT)}
    rows = [
        {"item_id": f"{kind}{i}", "category": category, "phenomenon": phenomenon,
         "template": "t", "lexical_set": "joint" if kind == "j" else f"s{i}",
         "cell": f"c{i}" if kind == "j" else "", "joint": kind == "j", "contrast": "x",
         "good": good, "bad": bad}
        for kind, (category, phenomenon, pairs) in kinds.items()
        for i, (good, bad) in enumerate(pairs)
    ]  # fmt: skip
    pairs = with_regions(pl.DataFrame(rows, schema=PAIRS))
    write_table(pairs, paths.items("posh"), ITEMS)
    table.write({"posh": paths.items("posh")}, tmp_path / "rules")
    margins = {f"gpt2/packed/none/seed{seed}": None for seed in (1, 2)}
    margins |= {"unigram/counted/none/seed0": 0.0, "ngram/counted/none/seed0": 1.0}
    for name, margin in margins.items():
        rows = [
            (item, None, -2.0 + (margin if margin is not None else did), -2.0, 1, 1)
            for item, good in pairs.select("item_id", "good").iter_rows()
            for did in [1.0 if good.startswith("Did") else -1.0]
        ]
        scores = pl.DataFrame(rows, schema=SCORES, orient="row")
        write_table(scores, paths.scores(f"baby/10M/{name}", "posh"), SCORES)
    text = pl.DataFrame({"text": ["did you see it ?", "did he ?", "will you ?", "can she ?"]})
    text = text.with_columns(sent_id=pl.int_range(pl.len(), dtype=pl.UInt32))
    missing = (
        pl.lit(None, kind).alias(n) for n, kind in CONDITION.items() if n not in text.columns
    )
    write_table(text.with_columns(missing).select(list(CONDITION)), tmp_path / "train", CONDITION)
    count(tmp_path / "train", Path(paths.model("baby/10M/unigram/counted/none/seed0")), order=1)
    return paths, [f"baby/10M/{name}" for name in margins]


def explain(paths, runs):

    output = Path(paths.rule_shares("all"))
    facts = shares.write(
        specs.RuleSharesSpec(scoring=Scoring(), runs=runs), Path(paths.all_scores()),
        Path(paths.all_models()), {"posh": Path(paths.items("posh"))},
        {"posh": Path(paths.rules("posh"))}, output,
    )  # fmt: skip
    schemas = {"shares": SHARES, "mixture": MIXTURE, "identifiability": IDENTIFIABILITY}
    return facts, {n: read_table(output / f"{n}.parquet", s) for n, s in schemas.items()}


def test_a_target_from_files_to_files(results):
    paths, runs = results
    facts, tables = explain(paths, runs)
    assert facts == {"runs": 4, "learners": 1, "suites": ["posh"], "replicates": 1_000}
    mine = tables["shares"].filter(scope="all", phenomenon="qf")
    assert set(mine["learner"]) == {"gpt2"}  # nulls are rules here, and no learners
    shown = {row["rule"]: (row["pairs"], row["share"]) for row in mine.iter_rows(named=True)}
    # "did" is fronted in the good member of q1 and the bad one of q0; elsewhere the bad one wins
    assert shown["main-auxiliary"] == (4, pytest.approx(1 / 4))
    assert shown["first-auxiliary"] == (4, pytest.approx(3 / 4))
    assert shown["front-do"] == (2, 1)
    # "did" was heard twice, "will" and "can" once, "must" never: it is right on q1 and q2, and the
    # learner on q1 alone
    assert shown["frequent-word"] == (4, pytest.approx(3 / 4))
    right = dict(mine.select("rule", "right").iter_rows())
    assert (right["frequent-word"], right["front-do"], right["ngram"]) == (0.5, 0.5, 1)
    assert "frequency" not in shown  # the same words
    assert shown["ngram"] == (4, pytest.approx(1 / 4))
    assert "unigram" not in shown  # all ties
    pairs = tables["identifiability"].filter(phenomenon="qf")
    apart = {(r["rule"], r["other"]): (r["both"], r["apart"]) for r in pairs.to_dicts()}
    assert apart["first-auxiliary", "main-auxiliary"] == (4, 4)
    assert apart["frequent-word", "ngram"] == (4, 2)
    names = set(tables["mixture"].filter(phenomenon="qf")["rule"])
    assert names == {"first-auxiliary", "frequent-word = local-bigram", "front-do",
                     "finite-clauses = main-auxiliary = ngram", "guessing"}  # fmt: skip
    joint = tables["shares"].filter(phenomenon="wanna", scope="all")
    assert dict(joint.select("rule", "pairs").iter_rows()) == {"contraction": 1, "ngram": 1}
