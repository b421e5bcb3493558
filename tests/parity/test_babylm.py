"""BabyLM's evaluation and ours on the same model: the same log-probabilities and decisions.

``theirs`` is written from the rule of the challenge's pipeline (2025, ``sentence_zero_shot``), not
from our code: the sum over the tokens that end after the completion begins, in the text as the
tokenizer of the exported folder makes it; the first of the largest wins.
"""

from __future__ import annotations

import json
from pathlib import Path

import formulae
import numpy as np
import polars as pl
import pytest
import torch
from scipy import special, stats
from transformers import AutoModelForCausalLM, AutoTokenizer

import poshgrid
from poshgrid.benchmark import items as suites
from poshgrid.benchmark.schema import CHOICES, PAIRS
from poshgrid.config import Scoring, specs
from poshgrid.config.runs import Run
from poshgrid.core import files, plugins
from poshgrid.evaluation.engines.load import load
from poshgrid.evaluation.judgements import judge
from poshgrid.evaluation.schema import CHOICE_SCORES, SCORES
from poshgrid.evaluation.score import score
from poshgrid.models.training import train
from poshgrid.report.export import models
from poshgrid.statistics.measures import choices
from tests import shipped
from tests.unit.models.training.training_support import NOUNS, VERBS
from tests.unit.report.export import small_results

CLOSE = 1e-4  # nats
SUM = Scoring(reduction="sum")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A trained run, and the folder of its first checkpoint as it is exported."""
    folder = tmp_path_factory.mktemp("babylm")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(train, "milestone_steps", lambda *_: {"1M": 4})
        paths = small_results.build(folder, checkpoints="babylm")
    run = Run.parse(small_results.NAMES[0])
    opened = poshgrid.open(paths.results)
    (exported,) = models.export(
        opened, [run], folder, target=None, licence=None, babylm=True
    )  # fmt: skip
    return opened.model(run), exported


def theirs(folder: Path, sentence: str, completion: str) -> float:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    made = tokenizer(sentence, return_offsets_mapping=True)
    ids = torch.tensor([made["input_ids"]])
    with torch.no_grad():
        logprobs = torch.log_softmax(model(ids[:, :-1]).logits[0], dim=-1)
    of_tokens = logprobs.gather(1, ids[0, 1:, None])[:, 0]
    begins = len(sentence) - len(completion)
    counted = [end > begins for _, end in made["offset_mapping"][1:]]
    return float(of_tokens[torch.tensor(counted)].sum())


def read(folder: Path, reader: str, lines: list[dict], name: str, **options):
    path = folder / "data" / name
    files.write_text(path, "".join(json.dumps(line) + "\n" for line in lines))
    module = plugins.load(plugins.SUITES, reader)
    chosen = plugins.options(plugins.SUITES, reader, options)
    return module.load(path, chosen, None).items


def ours(folder: Path, model: Path, items, task: str):
    """Score items with the checkpoint that was exported; return its rows in the items' order."""
    contract, kind = (PAIRS, SCORES) if task == "pairs" else (CHOICES, CHOICE_SCORES)
    files.write_table(items, folder / "items.parquet", contract)
    spec = specs.ScoreSpec(scoring=SUM, tasks={"it": task})
    score(spec, str(model), {"it": folder / "items.parquet"}, {"it": folder / "it.parquet"})
    return files.read_table(folder / "it.parquet", kind, only=("step", 4))


TEXTS = [f"The {noun} {verb} a {other}." for noun, verb, other in
         zip(NOUNS, VERBS, reversed(NOUNS), strict=False)]  # fmt: skip
ORDER = [{"sentence_good": text, "sentence_bad": " ".join(reversed(text.split()))}
         for text in TEXTS] + [{"sentence_good": TEXTS[0], "sentence_bad": TEXTS[0]}]  # fmt: skip
COMPS = [{"prefix_acceptable": f"A {noun}", "prefix_unacceptable": f"The big {other}",
          "property_phrase": f"{verb} dogs."}
         for noun, other, verb in zip(NOUNS, reversed(NOUNS), VERBS, strict=False)]  # fmt: skip
EWOK = [{"Domain": "it", "Context1": one, "Context2": two, "Target1": f"He {a}.",
         "Target2": f"He {b} the {noun}."}
        for one, two, a, b, noun in zip(TEXTS, TEXTS[1:], VERBS, VERBS[1:], NOUNS,
                                        strict=False)]  # fmt: skip


def of_blimp(line):
    return [(text, text) for text in (line["sentence_good"], line["sentence_bad"])]


def of_comps(line):
    phrase = line["property_phrase"]
    return [(f"{line[f'prefix_{kind}']} {phrase}", phrase)
            for kind in ("acceptable", "unacceptable")]  # fmt: skip


def of_comps_with_its_space(line):
    return [(sentence, f" {phrase}") for sentence, phrase in of_comps(line)]


def of_ewok(line):
    return [(f"{line['Context1']} {line[target]}", f" {line[target]}")
            for target in ("Target1", "Target2")]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "asked"), [(ORDER, of_blimp), (COMPS, of_comps_with_its_space), (EWOK, of_ewok)]
)
def test_pairs_have_babylms_sums_and_decisions(model, tmp_path, lines, asked):
    run, exported = model
    made = read(tmp_path, "pairs", lines, "it.jsonl")
    if asked is of_ewok:  # their files have each half as a line
        made = made[::2]
    scores = judge(ours(tmp_path, run, suites.pairs("it", made), "pairs"), SUM)
    expected = [[theirs(exported / "chck_1M", *one) for one in asked(line)] for line in lines]
    both = scores.select("good_logprob", "bad_logprob").to_numpy()
    assert both == pytest.approx(np.array(expected), abs=CLOSE)
    right = [float(good >= bad) for good, bad in expected]  # the first wins a tie
    tied = [good == bad for good, bad in expected]
    assert [0.5 if tie else one for one, tie in zip(right, tied, strict=True)] == list(
        scores["correct"]
    )
    assert sum(tied) == (lines is ORDER)


def test_a_space_of_its_own_is_where_comps_differs(model, tmp_path):
    """BabyLM leaves out a token that is the space alone; for us it belongs to the first word."""
    run, exported = model
    tokenizer = AutoTokenizer.from_pretrained(exported)
    items = suites.pairs("it", read(tmp_path, "pairs", COMPS, "comps_base.jsonl"))
    scores = ours(tmp_path, run, items, "pairs")
    alone = []
    for line, mine in zip(COMPS, scores["good_logprob"], strict=True):
        sentence, phrase = of_comps(line)[0]
        begins = len(sentence) - len(phrase)
        spans = tokenizer(sentence, return_offsets_mapping=True)["offset_mapping"]
        alone.append((begins - 1, begins) in spans)
        same = theirs(exported / "chck_1M", sentence, phrase) == pytest.approx(mine, abs=CLOSE)
        assert same != alone[-1]
    assert {*alone} == {True, False}


def test_entity_tracking_has_babylms_sums_and_choices(model, tmp_path):
    run, exported = model
    lines = [{"input_prefix": text, "numops": n % 3,
              "options": [f" He {VERBS[n % 3]}.", f" The {NOUNS[n % 4]} {VERBS[1]}.", " No."]}
             for n, text in enumerate(TEXTS)]  # fmt: skip
    items = read(tmp_path, "babylm", lines, "regular.jsonl")
    scores = ours(tmp_path, run, items, "choices")
    expected = [[theirs(exported / "chck_1M", line["input_prefix"] + end, end)
                 for end in line["options"]] for line in lines]  # fmt: skip
    assert scores["logprob"].to_numpy().reshape(-1, 3) == pytest.approx(
        np.array(expected), abs=CLOSE
    )
    answers = choices.judged(scores.with_columns(step=None), items, "it")
    assert answers["chosen"].to_list() == [int(np.argmax(row)) for row in expected]
    assert answers["credit"].to_list() == [float(np.argmax(row) == 0) for row in expected]


def test_wug_has_babylms_correlation_with_people(model, tmp_path):
    run, exported = model
    shares = [0.1 + 0.07 * n**2 % 0.8 for n in range(len(TEXTS))]
    lines = [{"sentences": f"{text}\tThe {NOUNS[n % 3]} {text.lower()}", "ratio": shares[n]}
             for n, text in enumerate(TEXTS)]  # fmt: skip
    items = read(tmp_path, "babylm", lines, "wug.jsonl")
    scores = ours(tmp_path, run, items, "choices").with_columns(step=None)
    answers = choices.judged(scores, items, "it")
    sums = [[theirs(exported / "chck_1M", text, text) for text in line["sentences"].split("\t")]
            for line in lines]  # fmt: skip
    expected = stats.spearmanr(special.softmax(sums, axis=1)[:, 0], shares)[0]
    assert choices.measures(answers)["people_rho"][-1] == pytest.approx(expected)
    assert abs(expected) < 1


KNOWN = "Subtlex_log10 + length + context_length"
PRODUCTS = "Subtlex_log10:length + Subtlex_log10:context_length + length:context_length"
BEFORE = "prev_length + prev_pred"
PRODUCTS_BEFORE = " + ".join(
    f"{one}:{other}" for one in KNOWN.split(" + ") for other in BEFORE.split(" + ")
)
RULES = {
    "eyes": f"{KNOWN} + {PRODUCTS}",
    "self-paced": f"{KNOWN} + {BEFORE} + {PRODUCTS} + {PRODUCTS_BEFORE} + prev_length:prev_pred",
}


def explained(data, measure: str, rule: str) -> float:
    """Return the share of what a regression leaves that surprisal explains, in per cent."""
    fits = []
    for formula in (rule, f"{rule} + pred"):
        made = formulae.design_matrices(f"{measure} ~ {formula}", data, na_action="drop")
        times = np.asarray(made.response)
        fitted = made.common.design_matrix @ np.linalg.pinv(made.common.design_matrix) @ times
        fits.append(1 - ((times - fitted) ** 2).sum() / ((times - times.mean()) ** 2).sum())
    return 100 * (fits[1] - fits[0]) / (1 - fits[0])


def test_reading_times_are_explained_as_by_babylms_regressions(model, tmp_path):
    run, exported = model
    script = shipped.script(shipped.ROOT / "perf/reading_times.py")
    generator = np.random.default_rng(3)
    rows = []
    for sentence in (text.removesuffix(".").split() for text in TEXTS):
        for n in range(1, len(sentence)):
            row = {"item": " ".join(sentence[:n]), "word": sentence[n], "context_length": n,
                   "length": len(sentence[n]), "Subtlex_log10": generator.normal(9, 2)}  # fmt: skip
            if n > 1:
                before = {"prev_item": " ".join(sentence[: n - 1]), "prev_word": sentence[n - 1]}
                row |= before | {"prev_length": len(sentence[n - 1])}
            times = dict.fromkeys((*script.EYES, script.SELF_PACED))
            rows.append(row | {name: generator.normal(200, 40) for name in times})
    rows.append(rows[1] | {"item": "None", "Subtlex_log10": 1.5})
    rows.append(rows[2] | {"Subtlex_log10": None})
    frame = pl.DataFrame(rows, infer_schema_length=None)
    frame.write_csv(tmp_path / "reading_data.csv")

    def surprisal(context, word):
        """Return what the pipeline has of words of one token, with the space before them."""
        end = f" {word}"
        return -theirs(exported, context + end, end) if context else None

    expected = frame.with_columns(
        pl.Series(name, [surprisal(*pair) for pair in frame.select(*columns).iter_rows()])
        for name, columns in (("pred", ("item", "word")), ("prev_pred", ("prev_item", "prev_word")))
    ).to_pandas()
    words = script.read(tmp_path / "reading_data.csv")
    eyes, self_paced = script.explained(words, load(str(run), SUM))
    by_measure = [explained(expected, name, RULES["eyes"]) for name in script.EYES]
    assert eyes == pytest.approx(np.mean(by_measure), rel=1e-4)
    assert self_paced == pytest.approx(
        explained(expected, script.SELF_PACED, RULES["self-paced"]), rel=1e-4
    )
    assert 0 < eyes < 100
    assert 0 < self_paced < 100
