"""Which heuristic explains choices: shares, mixtures, verdicts and what items tell apart."""

import zlib

import numpy as np
import polars as pl
import pytest
from scipy import optimize, stats

from poshgrid.benchmark.schema import PAIRS
from poshgrid.config import Scoring, specs
from poshgrid.core.files import read_table
from poshgrid.evaluation.heuristics import mixture, table
from poshgrid.evaluation.heuristics.schema import DIFFER, MIXTURE, NONE, UNCLEAR, VERDICTS
from poshgrid.models.ngram import count
from poshgrid.statistics import shares
from tests.unit.models.training.training_support import write_condition
from tests.unit.statistics.scored import Folder


def phenomenon(says, chose, sets=None, heuristics=None, words=None):
    """Return a phenomenon: says (heuristics x pairs; nan: no say), choices (pairs x seeds).

    Without words no two pairs share one.
    """
    says, chose = np.array(says, float), np.array(chose, float)
    chose = chose.reshape(len(chose), -1)
    sets = np.arange(len(chose)) if sets is None else np.array(sets)
    names = {"suite": "s", "category": "c", "phenomenon": "p"}
    words = np.arange(2 * len(chose)).astype(str).reshape(-1, 2) if words is None else words
    return shares.Phenomenon(names, sets, chose, heuristics or list("ab"[: len(says)]), says, words)


# ---- the mixture ---------------------------------------------------------------------------------


def loglikelihood(weights, chosen, says):
    chance = weights @ np.vstack([says, np.full(says.shape[1], 0.5)])
    both = np.clip(np.stack([1 - chance, chance], -1), 1e-12, 1)
    return float((chosen * np.log(both)).sum())


def drawn(seed):
    """Draw what three heuristics say of eight kinds of pairs, and how often they were chosen."""
    generator = np.random.default_rng(seed)
    says = generator.choice([0, 0.5, 1], (3, 8))
    return says, generator.integers(5, 40, (8, 2)).astype(float)


# Guessing all but vanishes on the way, and comes back: steps of EM are short.
SHORT_STEPS = (
    np.array([
        [0.5, 0.5, 0.5, 0.5, 1, 1, 1, 1, 1, 1],
        [0, 0, 0.5, 0.5, 0, 0, 0, 0.5, 0.5, 0.5],
        [0, 1, 0, 1, 0, 0.5, 1, 0, 0.5, 1],
    ]),
    np.array([[0, 2, 2, 3, 10, 2, 13, 9, 1, 14], [1, 1, 3, 4, 56, 8, 108, 86, 42, 135]]).T,
)  # fmt: skip


@pytest.mark.parametrize(("says", "chosen"), [*map(drawn, range(6)), SHORT_STEPS])
def test_weights_are_where_another_optimiser_finds_the_maximum(says, chosen):
    mine = mixture.weights(chosen.astype(float), says)
    assert mine.sum() == pytest.approx(1)
    assert (mine >= 0).all()
    theirs = optimize.minimize(
        lambda w: -loglikelihood(w, chosen, says), np.full(4, 0.25), method="SLSQP",
        bounds=[(0, 1)] * 4, constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-12, "maxiter": 500},
    )  # fmt: skip
    assert loglikelihood(mine, chosen, says) >= -theirs.fun - 0.01


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


# ---- what a mixture leaves -----------------------------------------------------------------------


def test_what_seeds_share_by_hand():
    """Two seeds agree on three of four pairs: a mean product of (3 - 1) / 4 / 4."""
    chose, half = np.array([[1, 1], [0, 0], [1, 1], [1, 0]]), np.full((4, 2), 0.5)
    share, low, high = mixture.shared(chose, half, np.arange(4))
    assert share == pytest.approx(2 * np.sqrt(1 / 8))
    reach = stats.norm.ppf(0.975) * np.std([1, 1, 1, -1], ddof=1) / 4 / np.sqrt(4)
    assert (low, high) == (0, pytest.approx(min(1, 2 * np.sqrt(1 / 8 + reach))))
    assert mixture.shared(np.eye(2), half[:2], np.arange(2)) == (0, 0, 0)  # they disagree


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


def test_choices_with_the_chances_fail_as_often_as_they_should():
    """Chances of 90%, where products of residuals are skewed."""
    generator = np.random.default_rng(7)
    words = generator.choice(list("abcdef"), (120, 2))
    words[:, 1] = np.char.add(words[:, 1], "'")
    chances = np.full((120, 3), 0.9)
    p = np.array([
        (mixture.agreement(chose, chances), mixture.preference(chose, chances, words))
        for chose in (generator.random((1000, 120, 3)) < 0.9).astype(float)
    ])  # fmt: skip
    shares_below = (p < 0.05).mean(axis=0)
    assert ((shares_below > 0.03) & (shares_below < 0.07)).all()


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


def mixed(says, chose, sets=None, **options):
    """Return the weights of a phenomenon, and its verdict."""
    made = phenomenon(says, chose, sets, **options)
    return shares.mixed(made, shares.times(made))


def verdict(chose, **options):
    return mixed(SAID, chose, **options)[1]


COIN = np.full(PAIRS_OF_TWO, 0.5)
RESEMBLING = np.r_[1 - SAID[0][:24], SAID[0][24:]]  # as the first heuristic on 90% of the pairs
PLANTED = {
    "one heuristic": (planted(SAID[0]), "a", "3 a"),
    # Nobody knows what a single seed would share with another
    "one seed": (planted(SAID[0], seeds=1), UNCLEAR, None),
    # Seeds share a preference that is not listed, and resembles one that is
    "an unlisted one": (planted(RESEMBLING), NONE, None),
    "half of each of two": (planted(SAID.mean(axis=0), noise=0.15), NONE, None),
    "seeds that differ": (planted(SAID[[0, 1, 0]].T), DIFFER, "2 a, 1 b"),
    "one seed of three": (planted(np.column_stack([SAID[0], COIN, COIN])), DIFFER,
                          "1 a, 2 no listed heuristic"),
    "coins": (planted(COIN), mixture.GUESSING, None),
    "coins of one seed": (planted(COIN, seeds=1), NONE, None),  # would other seeds agree?
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_what_was_planted_is_named_and_nothing_else(name):
    chose, expected, seeds = PLANTED[name]
    row = verdict(chose)
    assert row["verdict"] == expected
    assert seeds in (None, row["seed_verdicts"])


def test_what_a_heuristic_explains_and_what_seeds_share():
    row = verdict(planted(SAID[0]), heuristics=["island", "b"])
    assert (row["verdict"], row["hierarchical"]) == ("island", True)
    assert row["low"] < 0.8 < row["high"]
    assert row["explained"] + row["unexplained"] == pytest.approx(1, abs=0.06)
    assert row["shared"] < row["shared_high"] < shares.TOLERANCE
    row = verdict(planted(RESEMBLING))
    assert row["low"] > shares.MOST and row["hierarchical"] is None
    # Residuals of .08 on nine tenths of the pairs, of -.72 on one tenth
    assert row["shared"] == pytest.approx(2 * 0.8 * 0.3, abs=0.05)
    row = verdict(planted(SAID.mean(axis=0), noise=0.15))
    assert row["shared_high"] < shares.TOLERANCE and row["unexplained"] < 0.5


def test_guessing_has_no_preference_for_a_word_and_seeds_do_not_agree():
    words = np.array([["himself", "herself"], ["herself", "himself"]] * (PAIRS_OF_TWO // 2))
    assert verdict(planted(COIN), words=words)["verdict"] == mixture.GUESSING
    himself = np.tile([1.0, 0.0], PAIRS_OF_TWO // 2)
    always = verdict(planted(himself, noise=0), words=words)
    assert (always["verdict"], always["right"]) == (NONE, 0.5)
    assert verdict(planted(himself, seeds=1), words=words)["coin"] < shares.LEVEL
    assert verdict(planted(np.random.default_rng(9).choice([0, 1], PAIRS_OF_TWO)))["coin"] < 1e-6


@pytest.mark.parametrize(
    ("few", "names"), [(9, {"first-gap = island"}), (10, {"island", "first-gap"})]
)
def test_a_group_is_hierarchical_if_all_of_it_are(few, names):
    """Heuristics that differ on few pairs are one group, in the order of the alphabet."""
    says = np.tile(SAID[0], (2, 1))
    says[1, :few] = 1 - says[1, :few]
    rows, row = mixed(says[::-1], planted(says[0]), heuristics=["first-gap", "island"])
    assert {r["heuristic"] for r in rows} - {mixture.GUESSING} == names
    assert row["hierarchical"] is (few == 10)
    assert table.hierarchical("island = command")


def test_few_pairs_and_few_sets():
    says = np.where(np.arange(PAIRS_OF_TWO) < 100, SAID[:1], np.nan)
    rows, row = mixed(says, planted(np.nan_to_num(says[0], nan=0.5), noise=0))
    assert rows[0]["weight"] == pytest.approx(1, abs=0.01)
    assert (row["verdict"], row["explained"]) == (NONE, pytest.approx(100 / 240, abs=0.01))
    for sets, expected in ((9, UNCLEAR), (10, "a")):
        _, row = mixed(np.ones((1, 60)), planted(np.ones(60), noise=0), np.arange(60) % sets)
        assert row["verdict"] == expected
    assert mixed(np.empty((0, 60)), np.ones((60, 2)))[1]["verdict"] == NONE  # none has a say
    rows, row = mixed(np.ones((1, 4)), [1, 1, 1, 0], [0, 0, 0, 0])  # one set has no interval
    assert (row["verdict"], row["low"]) == (UNCLEAR, None)
    assert rows[0]["weight"] == pytest.approx(0.5, abs=1e-3)


def test_draws_are_those_of_the_suite_and_the_phenomenon():
    times = shares.times(phenomenon(np.ones((1, 4)), np.ones(4), [0, 0, 1, 2]))
    assert times.shape == (1_000, 3)
    seed = [42, zlib.crc32(b"s\0c\0p")]  # published intervals go with these
    assert (times == np.random.default_rng(seed).multinomial(3, [1 / 3] * 3, 1_000)).all()


# ---- from files ----------------------------------------------------------------------------------

QUESTIONS = [
    ("Will the man who the boy did see leave?", "Did the man who the boy see will leave?"),
    ("Did the girl who the king will see run?", "Will the girl who the king see did run?"),
    ("Can the boy who the queen must help swim?", "Must the boy who the queen help can swim?"),
    ("Must the wife who the pilot can call eat?", "Can the wife who the pilot call must eat?"),
]


def test_a_target_from_files_to_files(tmp_path):
    """Two seeds front *did*; counted baselines are heuristics here, no models."""
    rows = [
        {"item_id": f"q{i}", "category": "question-formation", "phenomenon": "qf", "template": "t",
         "lexical_set": f"s{i}", "cell": "", "joint": False, "contrast": "x", "good": good,
         "bad": bad}
        for i, (good, bad) in enumerate(QUESTIONS)
    ]  # fmt: skip
    made = Folder(tmp_path, pl.DataFrame(rows, schema=PAIRS))
    did = [1 if good.startswith("Did") else -1 for good, _ in QUESTIONS]
    for seed in (1, 2):
        made.add(f"baby/10M/gpt2/packed/none/seed{seed}", {None: did})
    counted = "baby/10M/unigram/counted/none/seed0"
    made.add(counted, {None: [0] * 4}).add(counted.replace("unigram", "ngram"), {None: [1] * 4})
    # "did" was heard twice, "will" and "can" once, "must" never
    heard = ["did you see it ?", "did he ?", "will you ?", "can she ?"]
    text = write_condition(tmp_path / "text", train=heard) / "train.parquet"
    count(text, tmp_path / "models" / counted, order=1)
    table.write(made.tables, tmp_path / "heuristics")
    facts = shares.write(
        specs.HeuristicSharesSpec(scoring=Scoring(), runs=made.runs), tmp_path / "scores",
        tmp_path / "models", made.tables, {"posh": tmp_path / "heuristics/posh.parquet"},
        tmp_path / "out",
    )  # fmt: skip
    assert facts == {"models": 1, "replicates": 1_000}
    names = set(read_table(tmp_path / "out/mixture.parquet", MIXTURE)["heuristic"])
    assert names == {"first-auxiliary", "frequent-word = local-bigram", "front-do",
                     "finite-clauses = main-auxiliary = ngram", "guessing"}  # fmt: skip
    verdicts = read_table(tmp_path / "out/verdicts.parquet", VERDICTS)
    assert verdicts.select("phenomenon", "verdict", "sets").rows() == [("qf", UNCLEAR, 4)]
