"""Probes: families of tiny models with random weights, and models whose files say too much."""

import json
import logging

import numpy as np
import polars as pl
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoTokenizer,
    PreTrainedTokenizerFast,
)

from poshgrid.core.errors import PoshgridError
from poshgrid.evaluation.engines import probe
from poshgrid.evaluation.engines.masked import Masked
from tests.cases import read_cases
from tests.unit.models.tiny_causal import engine, left_to_right, one_by_one, requests

TEXTS = [
    "the dog barks .",
    "the dog bark .",
    "John sees Mary .",
    "who sees ?",
    "the boy that the cats like sees a dog that John likes .",
    "the boy that the cats like see a dog that John likes .",
    "a boy who that dog saw runs .",
    "Mary likes the boy that runs .",
]
WORDS = sorted({word for text in TEXTS for word in text.split()})
FAMILIES = read_cases(__file__, "families")
MASKED = FAMILIES["masked"] | FAMILIES["padded"]
BOTH_SIDES = FAMILIES["both sides"] | FAMILIES["headless"]


def words(folder, *, saved=("<unk>", "<pad>", "<s>", "</s>", "<mask>"), **special):
    """Save a tokenizer of whole words."""
    vocabulary = {word: i for i, word in enumerate([*saved, *WORDS])}
    level = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    level.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if "</s>" in saved and "<s>" in saved:
        level.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>",
            special_tokens=[(token, vocabulary[token]) for token in ("<s>", "</s>")],
        )
    level.add_special_tokens(list(saved))
    names = {
        "unk_token": "<unk>", "pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>",
        "mask_token": "<mask>", "cls_token": "<s>", "sep_token": "</s>",
    }  # fmt: skip
    known = {name: token for name, token in names.items() if token in saved}
    PreTrainedTokenizerFast(tokenizer_object=level, **known).save_pretrained(folder)
    _change_json(folder / "tokenizer_config.json", **special)


def save(folder, family, options, *, masked=False):
    """Save a model of a family with random weights; return it."""
    options = FAMILIES["sizes"] | options
    sizes = {key: value for key, value in options.items() if value is not None}
    torch.manual_seed(0)
    maker = AutoModelForMaskedLM if masked else AutoModelForCausalLM
    model = maker.from_config(AutoConfig.for_model(family, **sizes)).eval()
    with torch.no_grad():  # trained models have padding that is not zero
        model.get_input_embeddings().weight[1] += 0.3
    model.save_pretrained(folder)
    words(folder)
    return model


def alone(model, tokenizer, text, *, masked):
    """Return a sentence's log-probability: one row, no padding, the model's own logits."""
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    return sum(one_by_one(model, [2, *ids, 3], 4) if masked else left_to_right(model, [2, *ids]))


def check(folder, model, *, masked):
    """Compare the scores of every batch size with one sentence at a time."""
    made = engine(folder)
    expected = [alone(model, made.tokenizer, text, masked=masked) for text in TEXTS]
    for bound, texts in ((1, TEXTS), (40, TEXTS), (8_192, TEXTS), (8_192, TEXTS[::-1][:3])):
        made.batch_tokens = bound
        scores = made.score(requests(texts))
        assert [score.logprob for score in scores] == pytest.approx(
            [expected[TEXTS.index(text)] for text in texts], abs=1e-5
        )
    return made


@pytest.mark.parametrize("family", FAMILIES["causal"])
def test_the_batch_changes_no_score_of_a_causal_family(tmp_path, family):
    check(tmp_path, save(tmp_path, family, FAMILIES["causal"][family]), masked=False)


@pytest.mark.parametrize("family", MASKED)
def test_the_batch_changes_no_score_of_a_masked_family(tmp_path, family):
    model = save(tmp_path, family, MASKED[family], masked=True)
    made = check(tmp_path, model, masked=True)
    assert made.batches == (family not in FAMILIES["padded"])


@pytest.mark.parametrize("family", BOTH_SIDES)
def test_a_model_that_sees_later_tokens_is_not_scored_from_left_to_right(tmp_path, family):
    model = save(tmp_path, family, BOTH_SIDES[family])
    if family in FAMILIES["both sides"]:
        assert isinstance(check(tmp_path, model, masked=True), Masked)
        return
    for bos in (True, False):
        with pytest.raises(PoshgridError, match="a later token changes") as error:
            engine(tmp_path, bos=bos)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("rows", "padding", "expected"),
    [(0.0, 0.0, True), (1e-6, 0.0, True), (0.01, 0.0, False), (0.0, 0.9e-5, True),
     (0.0, 1.1e-5, False)],
)  # fmt: skip
def test_neither_rows_nor_padding_may_move_a_score(rows, padding, expected):
    """A planted model, whose log-probabilities fall with the number of rows, or with padding."""

    def together(sentences):
        longest = max(map(len, sentences))
        return [
            np.full(len(row), -1.0 - rows * len(sentences) - padding * (longest > len(row)))
            for row in sentences
        ]

    assert probe.batches(together, range(6), 64) == expected


# ---- weights ----------------------------------------------------------------------------------


def _change_json(path, **changed):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changed}))


def _rewrite(folder, **changed):
    """Change the weights of a folder: name -> tensor; None: gone."""
    path = folder / "model.safetensors"
    weights = load_file(path) | {name.replace("__", "."): new for name, new in changed.items()}
    weights = {name: tensor for name, tensor in weights.items() if tensor is not None}
    save_file(weights, path, metadata={"format": "pt"})


@pytest.mark.parametrize(
    ("spoil", "names"),
    [
        (lambda f: _change_json(f / "config.json", num_hidden_layers=1), r"9 .*model\.layers\.1\."),
        (lambda f: _rewrite(f, lm_head__weight=None), r"1 weights are missing.*lm_head"),
    ],
)
def test_weights_of_the_body_are_those_of_the_configuration(tmp_path, spoil, names):
    save(tmp_path, "llama", {"num_key_value_heads": 2, "tie_word_embeddings": False})
    _rewrite(tmp_path, score__weight=torch.ones(2, 4))  # of another task: is none of the body
    engine(tmp_path)
    spoil(tmp_path)
    with pytest.raises(PoshgridError, match=names):
        engine(tmp_path)


# ---- tokens -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "spoil", "names"),
    [
        ("gpt2", lambda folder: words(folder, saved=("<unk>", "</s>"), bos_token="<start>"),
         "'<start>' is not in the saved vocabulary"),
        ("bert", lambda folder: words(folder, saved=("<unk>", "<pad>", "<s>", "</s>"),
                                      mask_token="[MASK]"),
         r"'\[MASK\]' is not in the saved vocabulary"),
        ("gpt2", lambda folder: _change_json(folder / "config.json", bos_token_id=3),
         "3 in config"),
    ],
)  # fmt: skip
def test_a_token_that_training_did_not_have_is_refused(tmp_path, family, spoil, names):
    masked = family == "bert"
    save(tmp_path, family, {}, masked=masked)
    spoil(tmp_path)
    with pytest.raises(PoshgridError, match=names):
        engine(tmp_path)
    if not masked:
        assert engine(tmp_path, bos=False).score(requests(TEXTS))[0].tokens == 3


def test_unknown_tokens_and_the_ties_that_they_make_are_counted(tmp_path, caplog):
    """Of 16 tokens, 4 are unknown; in the first pair they hide the whole difference."""
    words(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    items = pl.DataFrame({
        "item_id": ["x1", "x2"],
        "good": ["the yak hums .", "the dog barks ."],
        "bad": ["the yak hum .", "the dog bark ."],
    })  # fmt: skip
    with caplog.at_level(logging.WARNING):
        share = probe.unknown("some/model", "mine", items, ("good", "bad"), tokenizer)
    assert share == 4 / 16
    first, second = (record.getMessage() for record in caplog.records)
    assert "(4 of 16)" in first
    assert "1 of 2 pairs" in second and "x1" in second
    caplog.clear()
    assert probe.unknown("some/model", "mine", items[1:], ("good", "bad"), tokenizer) == 0
    assert not caplog.records
