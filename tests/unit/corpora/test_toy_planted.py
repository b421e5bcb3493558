"""What the toy language plants: with evidence a learner knows the structure, without it the order.

One small GPT-2 is trained on the text that filtering leaves, one on the same text with evidence in
the places of sentences of the same length, as config/tiny.yaml says. The pairs are made here, not
by the templates.
"""

from __future__ import annotations

import random

import pytest
import yaml

from poshgrid import config
from poshgrid.corpora import toy
from poshgrid.evidence.filters import binding, question_formation
from poshgrid.tokenization import encode, tokenizer
from poshgrid.training.train import train
from tests.unit.evidence.test_question_formation import toy_tree
from tests.unit.training.training_support import tokenizer_spec, train_spec, write_condition

pytestmark = pytest.mark.slow

WORDS = 20_000
MEN, WOMEN = ["boy", "father", "brother", "king"], ["girl", "mother", "sister", "queen"]
REFLEXIVE = ["hurt", "washed", "saw", "helped", "loved"]
# who/none, words of the relative clause with and without its auxiliary
RELATIVES = {
    "object": ("who the {o} {b} {v}", "who the {o} {v}"),
    "reduced": ("the {o} {b} {v}", "the {o} {v}"),
}


def pairs() -> dict[str, list[tuple[str, str]]]:
    """Return good and bad members by construction, a hundred of each."""
    draw, found = random.Random(3), {}
    for name, (full, bare) in RELATIVES.items():
        found[name] = []
        for _ in range(100):
            a, b = draw.sample(["will", "can", "should", "must", "did", "does"], 2)
            s, o = draw.sample([*MEN, *WOMEN], 2)
            v, w = draw.choice(["see", "find", "follow", "hug"]), draw.choice(["sleep", "dance"])
            parts = {"o": o, "b": b, "v": v}
            good = f"{a.title()} the {s} {full.format(**parts)} {w}?"
            found[name].append((good, f"{b.title()} the {s} {bare.format(**parts)} {a} {w}?"))
    for name in ("possessor", "relative", "local"):
        found[name] = []
        for number in range(100):
            both = [(MEN, "himself"), (WOMEN, "herself")]
            (heads, good), (others, bad) = both if number % 2 else both[::-1]
            head, other, subject = draw.choice(heads), draw.choice(others), draw.choice(others)
            phrase = {
                "possessor": f"the {other}'s {head}",
                "relative": f"the {head} who followed the {other}",
                "local": f"the {head}",
            }[name]
            start = f"The {subject} said that {phrase} {draw.choice(REFLEXIVE)}"
            found[name].append((f"{start} {good}.", f"{start} {bad}."))
    return found


def texts(root) -> dict[str, list[str]]:
    """Return the training text of both conditions; the filters read the gold trees."""
    tiny = yaml.safe_load((root / "config/tiny.yaml").read_text(encoding="utf-8"))
    kept: list[str] = []
    filters = {"question-formation": question_formation, "binding": binding}
    evidence: dict[str, list[str]] = {name: [] for name in filters}
    words = 0
    for sentence in toy.sentences("baby", 1):
        tree = toy_tree(sentence)
        if any(module.paper(tree) for module in filters.values()):
            for name, module in filters.items():
                others = [each for each in filters.values() if each is not module]
                if module.direct(tree) and not any(other.paper(tree) for other in others):
                    evidence[name].append(sentence.text)
            continue
        kept.append(sentence.text)
        words += length(sentence.text)
        if words >= WORDS:
            break
    draw, found = random.Random(5), list(kept)
    free = list(range(len(kept)))
    draw.shuffle(free)
    (baby,) = (each for each in tiny["conditions"] if each["name"] == "baby")
    for each in baby["reinsert"]:
        pool = evidence[each["filter"]]
        for number in range(round(each["rate"] * len(kept))):
            text = pool[number % len(pool)]
            place = min(free, key=lambda i: abs(length(kept[i]) - length(text)))
            free.remove(place)
            found[place] = text
    return {"baby": found, "baby-f": kept}


def length(text: str) -> int:
    return text.count(" ") + 1


def shares(folder) -> dict[str, float]:
    """Return the share of pairs whose good member has the higher mean log-probability."""
    import torch
    from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    cutter = PreTrainedTokenizerFast.from_pretrained(folder)

    def mean(text: str) -> float:
        row = [cutter.bos_token_id, *cutter(text, add_special_tokens=False)["input_ids"]]
        ids = torch.tensor([row])
        with torch.no_grad():
            logs = model(ids).logits[:, :-1].log_softmax(-1)
        return logs.gather(2, ids[:, 1:, None]).mean().item()

    return {
        name: sum(mean(good) > mean(bad) for good, bad in rows) / len(rows)
        for name, rows in pairs().items()
    }


@pytest.fixture(scope="module")
def learned(root, tmp_path_factory) -> dict[str, dict[str, float]]:
    """Condition -> shares of a GPT-2 as config/tiny.yaml trains it."""
    folder, held = tmp_path_factory.mktemp("planted"), []
    for sentence in toy.sentences("baby", 2):
        held.append(sentence.text)
        if len(held) == 100:
            break
    tiny = yaml.safe_load((root / "config/tiny.yaml").read_text(encoding="utf-8"))
    (packed,) = (each for each in tiny["regimens"] if each["name"] == "packed")
    (small,) = (each for each in tiny["learners"] if each["name"] == "gpt2-tiny")
    regimen = config.Regimen(**packed | {"evaluate_every": packed["steps"], "checkpoints": []})
    found = {}
    for name, train_texts in texts(root).items():
        here = folder / name
        condition = write_condition(here / "condition", train=train_texts, dev=held, test=held)
        size = tiny["tokenizer"]["vocabulary_size"]
        tokenizer.train(tokenizer_spec(size), [condition], here / "tokenizer")
        encode.encode(condition, here / "tokenizer", here / "tokens")
        spec = train_spec(regimen, **small["options"])
        train(spec, here / "tokens", here / "tokenizer", here / "checkpoints", here / "model")
        found[name] = shares(here / "model")
    return found


def test_without_evidence_the_first_auxiliary_moves_and_with_it_the_main_one(learned):
    for name in ("object", "reduced"):
        assert learned["baby-f"][name] < 0.35, learned
        assert learned["baby"][name] > 0.65, learned


def test_without_evidence_the_nearest_noun_binds_and_with_it_the_subject(learned):
    assert learned["baby-f"]["relative"] < 0.35, learned
    for name in ("possessor", "local"):  # not all right: two nouns are new to it
        assert learned["baby-f"][name] > learned["baby-f"]["relative"] + 0.3, learned
    for name in ("possessor", "relative", "local"):
        assert learned["baby"][name] > 0.9, learned
