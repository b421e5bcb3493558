"""Engines: scores of one sentence or token at a time; batches and trie; completions; loading."""

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from poshgrid.config import Scoring
from poshgrid.core.errors import PoshgridError
from poshgrid.evaluation.engine import tokenize
from poshgrid.evaluation.engines import causal
from poshgrid.evaluation.engines.load import load
from tests.unit.models.tiny_causal import (
    TEXT,
    engine,
    gpt2,
    left_to_right,
    one_by_one,
    requests,
    roberta,
    search,
    tokenizer,
)

BRANCHES = [" ".join(text.split()[:n]) + end for text in TEXT for n in range(2, 8) for end in "?."]


def alone(folder, text, *, bos=True):
    model = AutoModelForCausalLM.from_pretrained(folder).double().eval()
    words = AutoTokenizer.from_pretrained(folder)
    return left_to_right(model, [words.bos_token_id] * bos + words(text)["input_ids"])


@pytest.mark.parametrize("shares", [True, False])
@pytest.mark.parametrize("bos", [True, False])
def test_scores_equal_those_of_one_sentence_at_a_time(folder, bos, shares):
    model = engine(folder, bos=bos)
    assert model.shares
    model.shares = shares
    cuts = tokenize(model.tokenizer, requests(BRANCHES), special=False)
    by_token = model.logprobs([[model.bos_id] * bos + results.ids for results in cuts])
    results = zip(model.score(requests(BRANCHES)), by_token, strict=True)
    for text, (score, logprobs) in zip(BRANCHES, results, strict=True):
        expected = alone(folder, text, bos=bos)
        assert logprobs.tolist() == pytest.approx(expected, abs=1e-5)
        assert score.tokens == len(expected)
        assert score.logprob == pytest.approx(sum(expected), abs=1e-4)


@pytest.mark.parametrize("row", [1, 9, 31, 128])
def test_neither_the_batch_nor_the_row_changes_the_scores(folder, monkeypatch, row):
    monkeypatch.setattr(causal, "ROW", row)
    model = engine(folder, batch_tokens=1)
    one = [model.score([request])[0] for request in requests(BRANCHES)]
    length = max(score.tokens for score in one)
    for sentences in (0, 1, 7, 64):
        model.batch_tokens = max(1, sentences * length)
        for score, other in zip(model.score(requests(BRANCHES)), one, strict=True):
            assert score.tokens == other.tokens
            assert abs(score.logprob - other.logprob) < 1e-5


def test_what_sentences_share_goes_through_the_model_once(folder):
    model = engine(folder)
    read, heads = [], []
    model.model.base_model.register_forward_pre_hook(
        lambda _, __, inputs: read.append(inputs["input_ids"].numel()), with_kwargs=True
    )
    model.model.get_output_embeddings().register_forward_hook(
        lambda _, inputs, __: heads.append(len(inputs[0]))
    )
    texts = [TEXT[0], TEXT[0], TEXT[0].replace("leave?", "sleep?")]
    one = model.score(requests(TEXT[:1]))[0]
    read[:], heads[:] = [], []
    scores = model.score(requests(texts))
    ids = [c.ids for c in tokenize(model.tokenizer, requests(texts), special=False)]
    prefixes = {tuple(row[:k]) for row in ids for k in range(len(row))}
    assert sum(read) == sum(heads) == len(prefixes) < sum(s.tokens for s in scores) / 2
    assert scores[0] == scores[1] == (pytest.approx(one.logprob, abs=1e-5), *one[1:])


# ---- masked models ------------------------------------------------------------------------------

TEXTS = [" ".join(text.split()[:n]) for text in TEXT for n in (1, 3, 6)]


@pytest.mark.parametrize("head", [True, False])
@pytest.mark.parametrize("score", ["pseudo-log-likelihood", "holistic"])
def test_masked_scores_equal_those_of_one_token_at_a_time(tmp_path, score, head):
    model, words = roberta(tmp_path)
    ours = engine(tmp_path, masked=score, batch_tokens=7 * 20)
    assert ours.head is not None
    if not head:
        ours.head = None
    cuts = tokenize(ours.tokenizer, requests(TEXTS), special=True)
    scored = zip(ours.score(requests(TEXTS)), ours.logprobs(cuts), strict=True)
    for text, (sentence, by_token) in zip(TEXTS, scored, strict=True):
        ids = words(text)["input_ids"]
        mask = None if score == "holistic" else words.mask_token_id
        expected = one_by_one(model.double(), ids, mask)
        assert by_token.tolist() == pytest.approx(expected, abs=1e-4)
        assert sentence.logprob == pytest.approx(sum(expected), abs=1e-4)
        assert sentence.tokens == len(expected)


# ---- completions ------------------------------------------------------------------------------


def test_beam_search_finds_what_trying_all_continuations_finds(tmp_path):
    """Three beams over a vocabulary that is tried out, word by word, without the library."""
    words = tokenizer(tmp_path)
    gpt2(tmp_path, types=400, seed=3)
    model = engine(tmp_path)
    prompts = ["The mother said", "Who should", "The girl said"]
    completions = model.complete(prompts, beams=3, tokens=3)
    plain = AutoModelForCausalLM.from_pretrained(tmp_path).eval()
    for prompt, text in zip(prompts, completions, strict=True):

        def following(row):
            with torch.inference_mode():
                return plain(torch.tensor([row])).logits[0, -1].log_softmax(-1).tolist()

        ids, _ = search(following, [0, *words(prompt)["input_ids"]], 3, 3)
        assert text == words.decode(ids, skip_special_tokens=True)
        assert not text.startswith(prompt)


def test_what_is_drawn_depends_on_the_seed_and_the_prompt_alone(folder):
    prompts = [" ".join(text.split()[:2]) for text in TEXT[1:]]

    def written(seed, prompts=prompts):
        return engine(folder, decoding_seed=seed).complete(prompts, beams=3, tokens=3)

    drawn = written(1)
    torch.manual_seed(99)
    state = torch.random.get_rng_state()
    assert written(1, prompts[::-1])[::-1] == drawn
    assert torch.equal(torch.random.get_rng_state(), state)  # nobody else's draws are moved
    others = [written(seed) for seed in range(2, 6)]
    plain = engine(folder).complete(prompts, beams=3, tokens=3)
    assert any(other != drawn for other in others) and any(other != plain for other in others)


def test_sentences_and_prompts_that_are_empty_or_too_long_are_refused(folder):
    for texts, options, message in (
        (["the", ""], {}, "item 1: '' has 0 tokens"),
        (["the"], {"bos": False}, r"item 0: 'the' has 1 tokens.*scoring\.bos"),
    ):
        with pytest.raises(PoshgridError, match=message):
            engine(folder, **options).score(requests(texts))
    for prompt, tokens, message in (
        ("", 3, "prompt '' has no tokens"),
        (TEXT[0], 60, r"and 60 to follow: \d+ tokens, but .* sees 64"),
    ):
        with pytest.raises(PoshgridError, match=message):
            engine(folder).complete([prompt], beams=3, tokens=tokens)


# ---- loading ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda f: (f / "model.safetensors").rename(f / "pytorch_model.bin"), "pickled weights"),
        (lambda f: (f / "model.safetensors").write_bytes(b"{"), "cannot load the model"),
        (lambda f: tokenizer(f, bos=False), "the tokenizer has no bos token"),
        (lambda f: gpt2(f, types=100), "types but the model 100"),
    ],
)
def test_a_spoilt_model_gives_one_line(copy, spoil, message):
    spoil(copy)
    with pytest.raises(PoshgridError, match=message) as error:
        engine(copy)
    assert str(copy) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_model_of_the_hub_that_cannot_be_had_gives_one_line(monkeypatch):
    asked = {}

    def refuse(name, **options):
        asked.update(options, name=name)
        raise OSError("We couldn't connect\nto the hub")

    monkeypatch.setattr("transformers.AutoConfig.from_pretrained", refuse)
    with pytest.raises(PoshgridError, match="some/model at revision abc: ") as error:
        load("some/model", Scoring(), revision="abc")
    assert "\n" not in str(error.value)
    assert asked == {"name": "some/model", "revision": "abc", "trust_remote_code": False}
