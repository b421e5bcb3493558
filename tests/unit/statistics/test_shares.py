"""Which heuristic explains choices: shares, mixtures, verdicts and what items tell apart."""

import zlib
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import optimize, stats

from poshgrid.benchmark.items import with_regions
from poshgrid.benchmark.schema import ITEMS, PAIRS
from poshgrid.config import Scoring, specs
from poshgrid.config.paths import Paths
from poshgrid.evaluation.schema import SCORES
from poshgrid.evidence.schema import CONDITION
from poshgrid.files import read_table, write_table
from poshgrid.heuristics import mixture, table
from poshgrid.heuristics.schema import (
    DIFFER,
    IDENTIFIABILITY,
    MIXTURE,
    NONE,
    UNCLEAR,
    VERDICTS,
)
from poshgrid.models.ngram import count
from poshgrid.statistics import shares


def found(says, chose, sets=None, heuristics=None, words=None):
    """Return a phenomenon: says (heuristics x pairs; nan: no say), choices (pairs x seeds).

    Without words no two pairs share one.
    """
    says, chose = np.array(says, float), np.array(chose, float)
    chose = chose[:, None] if chose.ndim == 1 else chose
    sets = np.arange(len(chose)) if sets is None else np.array(sets)
    names = {"suite": "s", "category": "c", "phenomenon": "p"}
    words = np.arange(2 * len(chose)).astype(str).reshape(-1, 2) if words is None else words
    return shares.Phenomenon(
        names, sets, chose, heuristics or list("abcdefg"[: len(says)]), says, words
    )


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
    # A heuristic that says "good" of everything, 80 of 100 chosen so: 60 follow it, 40 guess
    one = mixture.weights(np.array([[20, 80]]), np.array([[1.0]]))
    assert one == pytest.approx([0.6, 0.4], abs=1e-3)
    # ... 20 of 100: no weight is below 0
    none = mixture.weights(np.array([[80, 20]]), np.array([[1.0]]))
    assert none == pytest.approx([0, 1], abs=1e-5)
    # Two heuristics on four kinds of pairs: one is followed half of the time, the other 30%
    says = np.array([[1, 1, 0, 0.5], [1, 0, 0.5, 1]])
    share = 0.5 * says[0] + 0.3 * says[1] + 0.2 * 0.5
    chosen = 1000 * np.stack([1 - share, share], -1)
    assert mixture.weights(chosen, says) == pytest.approx([0.5, 0.3, 0.2], abs=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_guessing_is_as_large_as_a_linear_program_finds(seed):
    """With heuristics that contradict each other, and more heuristics than kinds of pairs."""
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


def test_weights_reach_the_maximum_where_steps_of_em_are_short():
    """Guessing all but vanishes on the way, and comes back."""
    says = np.array([
        [0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1, 1, 1],
        [0, 0, 0.5, 0.5, 0, 0, 0, 0.5, 0.5, 0.5],
        [0, 1, 0, 1, 0, 0.5, 1, 0, 0.5, 1],
    ])  # fmt: skip
    bad, good = [0, 2, 2, 3, 10, 2, 13, 9, 1, 14], [1, 1, 3, 4, 56, 8, 108, 86, 42, 135]
    chosen = np.array([bad, good], float).T
    truth = loglikelihood(np.array([0.8, 0, 0, 0.2]), chosen, says)
    assert loglikelihood(mixture.weights(chosen, says), chosen, says) > truth


def test_intervals_reach_as_far_to_either_side_by_hand():
    replicates = np.tile([0.3, 0.7], (5, 1))
    low, high = mixture.intervals(np.array([0.1, 0.9]), replicates)
    assert (low.tolist(), high.tolist()) == (pytest.approx([0, 0.7]), pytest.approx([0.3, 1]))


# ---- what a mixture leaves -----------------------------------------------------------------------


def test_what_seeds_share_by_hand():
    """Two seeds agree on three of four pairs: a mean product of (3 - 1) / 4 / 4."""
    chose, half = np.array([[1, 1], [0, 0], [1, 1], [1, 0]]), np.full((4, 2), 0.5)
    share, low, high = mixture.shared(chose, half, np.arange(4))
    assert share == pytest.approx(2 * np.sqrt(1 / 8))
    reach = stats.norm.ppf(0.975) * np.std([1, 1, 1, -1], ddof=1) / 4 / np.sqrt(4)
    assert (low, high) == (0, pytest.approx(min(1, 2 * np.sqrt(1 / 8 + reach))))
    assert mixture.shared(np.eye(2), half[:2], np.arange(2)) == (0, 0, 0)  # they disagree


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6])
def test_what_seeds_share_is_what_was_planted(share):
    """So much of the choices follows an unlisted preference, the rest the chances of a mixture."""
    generator = np.random.default_rng(3)
    chances = np.where(generator.random((6_000, 1)) < 0.5, 0.15, 0.85) * np.ones((1, 3))
    unlisted = generator.choice([0.0, 1.0], (6_000, 1))
    chose = generator.random((6_000, 3)) < share * unlisted + (1 - share) * chances
    _, low, high = mixture.shared(chose, share / 2 + (1 - share) * chances, np.arange(6_000) // 2)
    assert low <= share <= high
    assert high - low < 0.2


def test_agreement_by_hand():
    """Two seeds, chances one half: the products are all +-1/4, and their skewness is 0."""
    chose = np.array([[1, 1], [0, 0], [1, 1], [1, 0]])
    z = (3 - 1) / 4 / np.sqrt(4 / 16)
    assert mixture.agreement(chose, np.full((4, 2), 0.5)) == pytest.approx(stats.norm.sf(z))
    assert mixture.agreement(chose[:, :1], np.full((4, 1), 0.5)) == 1
    assert mixture.agreement(np.ones((4, 2)), np.ones((4, 2))) == 1


def test_preference_by_hand():
    """One pair of words, either of which may be the good one: a chi-square of the one's count."""
    words = np.array([["himself", "herself"]] * 60 + [["herself", "himself"]] * 40)
    chose = np.r_[np.ones(45), np.zeros(15), np.ones(20), np.zeros(20)][:, None]
    z = (45 + 20 - 50) / np.sqrt(100 / 4)
    p = mixture.preference(chose, np.full((100, 1), 0.5), words)
    assert p == pytest.approx(stats.chi2.sf(z**2, 1), rel=0.1)


@pytest.mark.parametrize("chance", [0.5, 0.9])
def test_choices_with_the_chances_fail_as_often_as_they_should(chance):
    generator = np.random.default_rng(7)
    words = generator.choice(list("abcdef"), (120, 2))
    words[:, 1] = np.char.add(words[:, 1], "'")
    chances = np.full((120, 3), chance)
    p = np.array([
        (mixture.agreement(chose, chances), mixture.preference(chose, chances, words))
        for chose in (generator.random((1000, 120, 3)) < chance).astype(float)
    ])  # fmt: skip
    assert ((p < 0.05).mean(axis=0) < 0.07).all()
    assert ((p < 0.05).mean(axis=0) > 0.03).all()
    assert ((p < 0.01).mean(axis=0) < 0.02).all()


# ---- verdicts ------------------------------------------------------------------------------------

PAIRS_OF_TWO = 240
SAID = np.random.default_rng(3).choice([0.0, 1.0], (2, PAIRS_OF_TWO))
"""What two heuristics say of pairs, independently of each other."""


def planted(preferred, seeds=3, noise=0.1, seed=5):
    """Return choices of models that take the other member in some choices: pairs x seeds."""
    preferred = np.array(preferred, float)
    preferred = np.tile(preferred[:, None], seeds) if preferred.ndim == 1 else preferred
    chance = noise + preferred * (1 - 2 * noise)
    return (np.random.default_rng(seed).random(chance.shape) < chance).astype(float)


def verdict(chose, **options):
    each = found(SAID, chose, **options)
    return shares.mixed(each, shares.times(each))[1]


def test_a_heuristic_is_named_with_what_it_explains():
    row = verdict(planted(SAID[0]), heuristics=["island", "b"])
    assert (row["verdict"], row["hierarchical"]) == ("island", True)
    assert row["seed_verdicts"] == "3 island"
    assert row["low"] < 0.8 < row["high"]
    assert row["explained"] + row["unexplained"] == pytest.approx(1, abs=0.06)
    assert row["shared"] < row["shared_high"] < shares.TOLERANCE
    # Nobody knows what a single seed would share with another
    assert verdict(planted(SAID[0], seeds=1), heuristics=["island", "b"])["verdict"] == UNCLEAR


def test_one_that_is_not_listed_is_not_named_after_one_that_it_resembles():
    """It prefers what the first heuristic does of 90% of the pairs, whatever the seed."""
    other = SAID[0].copy()
    other[:24] = 1 - other[:24]
    row = verdict(planted(other))
    assert row["low"] > shares.MOST
    assert (row["verdict"], row["hierarchical"]) == (NONE, None)
    # Residuals of .08 on nine tenths of the pairs, of -.72 on one tenth
    assert row["shared"] == pytest.approx(2 * 0.8 * 0.3, abs=0.05)


def test_half_of_each_of_two_is_none():
    row = verdict(planted(SAID.mean(axis=0), noise=0.15))
    assert row["verdict"] == NONE
    assert row["shared_high"] < shares.TOLERANCE
    assert row["unexplained"] < 0.5


def test_seeds_that_follow_different_heuristics_differ():
    row = verdict(planted(np.column_stack([SAID[0], SAID[1], SAID[0]])))
    assert (row["verdict"], row["seed_verdicts"]) == (DIFFER, "2 a, 1 b")
    # One follows it, two toss coins
    row = verdict(planted(np.column_stack([SAID[0], *np.full((2, PAIRS_OF_TWO), 0.5)])))
    assert (row["verdict"], row["seed_verdicts"]) == (DIFFER, "1 a, 2 no listed heuristic")


def test_guessing_is_what_looks_like_coin_tosses():
    words = np.array([["himself", "herself"], ["herself", "himself"]] * (PAIRS_OF_TWO // 2))
    coins = planted(np.full(PAIRS_OF_TWO, 0.5))
    assert verdict(coins, words=words)["verdict"] == mixture.GUESSING
    assert verdict(coins[:, :1], words=words)["verdict"] == NONE  # would other seeds agree?
    himself = np.tile([1.0, 0.0], PAIRS_OF_TWO // 2)
    always = verdict(planted(himself, noise=0), words=words)
    assert (always["verdict"], always["right"]) == (NONE, 0.5)
    # A seed that none agrees with likes the word, too
    assert verdict(planted(himself, seeds=1), words=words)["coin"] < shares.LEVEL
    # Seeds agree: whatever it is, it is no coin
    assert verdict(planted(np.random.default_rng(9).choice([0, 1], PAIRS_OF_TWO)))["coin"] < 1e-6


def test_a_group_is_hierarchical_if_all_of_it_are():
    for few, names in ((9, {"first-gap = island"}), (10, {"island", "first-gap"})):
        says = np.tile(SAID[0], (2, 1))
        says[1, :few] = 1 - says[1, :few]
        each = found(says, planted(says[0]), heuristics=["island", "first-gap"])
        each = each._replace(heuristics=["first-gap", "island"], says=each.says[::-1])
        rows, row = shares.mixed(each, shares.times(each))
        assert {r["heuristic"] for r in rows} - {mixture.GUESSING} == names
        assert row["hierarchical"] is (few == 10)
    assert table.hierarchical("island = command")


def test_what_has_a_say_on_few_pairs_explains_few_choices():
    says = np.where(np.arange(PAIRS_OF_TWO) < 100, SAID[:1], np.nan)
    each = found(says, planted(np.nan_to_num(says[0], nan=0.5), noise=0))
    rows, row = shares.mixed(each, shares.times(each))
    assert rows[0]["weight"] == pytest.approx(1, abs=0.01)
    assert (row["verdict"], row["explained"]) == (NONE, pytest.approx(100 / 240, abs=0.01))


def test_few_sets_tell_nothing():
    for sets, said in ((9, UNCLEAR), (10, "a")):
        each = found(np.ones((1, 60)), planted(np.ones(60), noise=0), np.arange(60) % sets)
        assert shares.mixed(each, shares.times(each))[1]["verdict"] == said
    each = found(np.empty((0, 60)), np.ones((60, 2)))  # no heuristic has a say
    assert shares.mixed(each, shares.times(each))[1]["verdict"] == NONE


def test_one_set_has_no_interval_and_names_nothing():
    each = found(np.ones((1, 4)), [1, 1, 1, 0], [0, 0, 0, 0])
    assert shares.times(each) is None
    rows, row = shares.mixed(each, None)
    assert (row["verdict"], row["low"]) == (UNCLEAR, None)
    assert rows[0]["weight"] == pytest.approx(0.5, abs=1e-3)


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
    """A results folder: items, heuristics, two seeds that front *did*, counted baselines."""
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
    table.write({"posh": paths.items("posh")}, tmp_path / "heuristics")
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

    output = Path(paths.heuristic_shares("all"))
    facts = shares.write(
        specs.HeuristicSharesSpec(scoring=Scoring(), runs=runs), Path(paths.all_scores()),
        Path(paths.all_models()), {"posh": Path(paths.items("posh"))},
        {"posh": Path(paths.heuristics("posh"))}, output,
    )  # fmt: skip
    schemas = {"mixture": MIXTURE, "verdicts": VERDICTS,
               "identifiability": IDENTIFIABILITY}  # fmt: skip
    return facts, {n: read_table(output / f"{n}.parquet", s) for n, s in schemas.items()}


def test_a_target_from_files_to_files(results):
    paths, runs = results
    facts, tables = explain(paths, runs)
    assert facts == {"models": 1, "replicates": 1_000}
    # "did" was heard twice, "will" and "can" once, "must" never; baselines are heuristics here, no
    # models
    pairs = tables["identifiability"].filter(phenomenon="qf")
    apart = {(r["heuristic"], r["other"]): (r["both"], r["apart"]) for r in pairs.to_dicts()}
    assert apart["first-auxiliary", "main-auxiliary"] == (4, 4)
    assert apart["frequent-word", "ngram"] == (4, 2)
    names = set(tables["mixture"].filter(phenomenon="qf")["heuristic"])
    assert names == {"first-auxiliary", "frequent-word = local-bigram", "front-do",
                     "finite-clauses = main-auxiliary = ngram", "guessing"}  # fmt: skip
    verdicts = tables["verdicts"].select("phenomenon", "verdict", "sets").sort("phenomenon").rows()
    assert verdicts == [("qf", UNCLEAR, 4), ("wanna", UNCLEAR, 1)]
