"""Causal engine: hand-worked scores, independence of batch and trie, regions, BOS, completions."""

from __future__ import annotations

import json
import math

import pytest

from poshgrid.config import Scoring
from poshgrid.errors import PoshgridError
from poshgrid.evaluation import cutting
from poshgrid.evaluation.engine import Request
from poshgrid.evaluation.engines import causal
from poshgrid.evaluation.engines.load import load, same_cuts
from tests.unit.models.tiny_causal import TEXT, gpt2, tokenizer, unigram

BRANCHES = [" ".join(text.split()[:n]) + end for text in TEXT for n in range(2, 8) for end in "?."]


def engine(folder, **scoring):
    return load(str(folder), Scoring(**scoring))


def requests(texts):
    return [Request(text, f"item {i}") for i, text in enumerate(texts)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny model of random weights with its tokenizer."""
    folder = tmp_path_factory.mktemp("model")
    gpt2(folder)
    tokenizer(folder)
    return folder


@pytest.fixture
def copy(folder, tmp_path):
    """A copy of the tiny model, to be spoilt."""
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def alone(folder, text, *, bos=True):
    """Log-probability of each token by the model's own logits, one sentence, double precision."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder).double().eval()
    words = AutoTokenizer.from_pretrained(folder)
    ids = ([words.bos_token_id] if bos else []) + words(text)["input_ids"]
    with torch.inference_mode():
        logprobs = model(torch.tensor([ids])).logits[0].log_softmax(-1)
    return [logprobs[i, ids[i + 1]].item() for i in range(len(ids) - 1)]


def test_a_uniform_model_gives_each_token_one_over_the_number_of_types(tmp_path):
    words = tokenizer(tmp_path)
    unigram(tmp_path, [0.0] * 400)
    for bos in (True, False):
        found = engine(tmp_path, bos=bos, batch_tokens=64).score(requests(TEXT))
        for text, score in zip(TEXT, found, strict=True):
            assert score.tokens == len(words(text)["input_ids"]) - (not bos)
            assert score.logprob == pytest.approx(-score.tokens * math.log(400), abs=1e-5)


def test_a_unigram_model_gives_the_values_worked_by_hand(tmp_path):
    words = tokenizer(tmp_path)
    logits = [math.sin(i) * 3 for i in range(400)]
    unigram(tmp_path, logits)
    normaliser = math.log(sum(math.exp(x) for x in logits))
    ids = words("the man")["input_ids"]
    by_hand = [logits[i] - normaliser for i in ids]
    whole = engine(tmp_path).score(requests(["the man"]))[0]
    assert whole.tokens == len(ids)
    assert whole.logprob == pytest.approx(sum(by_hand), abs=1e-5)
    later = engine(tmp_path, bos=False).score(requests(["the man"]))[0]
    assert later.tokens == len(ids) - 1
    assert later.logprob == pytest.approx(sum(by_hand[1:]), abs=1e-5)


@pytest.mark.parametrize("shares", [True, False])
@pytest.mark.parametrize("bos", [True, False])
def test_scores_equal_those_of_one_sentence_at_a_time(folder, bos, shares):
    model = engine(folder, bos=bos)
    assert model.shares
    model.shares = shares
    found = model.score(requests(BRANCHES), per_token=True)
    for text, score in zip(BRANCHES, found, strict=True):
        expected = alone(folder, text, bos=bos)
        each = [token.logprob for token in score.each]
        assert each[:1] == [None] or bos
        assert [one for one in each if one is not None] == pytest.approx(expected, abs=1e-5)
        assert (score.tokens, score.logprob) == (
            len(expected),
            pytest.approx(sum(expected), abs=1e-4),
        )
        assert "".join(token.text for token in score.each) == " ".join(["", *text.split()]).replace(
            " ", "Ġ"
        )


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
    heads = []
    model.model.get_output_embeddings().register_forward_hook(
        lambda _, given, __: heads.append(len(given[0]))
    )
    texts = [TEXT[0], TEXT[0], TEXT[0].replace("leave?", "sleep?")]
    one = model.score(requests(TEXT[:1]))[0]
    before, heads[:] = model.passed, []
    found = model.score(requests(texts))
    ids = [c.ids for c in cutting.cut(model.tokenizer, requests(texts), special=False)]
    prefixes = {tuple(row[:k]) for row in ids for k in range(len(row))}
    assert model.passed - before == sum(heads) == len(prefixes) < sum(s.tokens for s in found) / 2
    assert found[0] == found[1] == (pytest.approx(one.logprob, abs=1e-5), *one[1:])


def test_projecting_in_parts_or_whole_gives_the_same(folder, monkeypatch):
    model = engine(folder)
    assert model.separate
    expected = [s.logprob for s in model.score(requests(BRANCHES))]
    monkeypatch.setattr(causal, "PROJECTED", 3)
    assert [s.logprob for s in model.score(requests(BRANCHES))] == pytest.approx(expected, abs=1e-5)
    model.separate = False
    assert [s.logprob for s in model.score(requests(BRANCHES))] == pytest.approx(expected, abs=1e-5)


def test_a_model_that_scales_its_logits_is_projected_by_itself(tmp_path):
    """Cohere multiplies its logits by a constant: its output layer alone would be wrong."""
    import torch
    from transformers import CohereConfig, CohereForCausalLM

    torch.manual_seed(0)
    CohereForCausalLM(
        CohereConfig(
            vocab_size=400, hidden_size=32, intermediate_size=32, num_hidden_layers=1,
            num_attention_heads=2, logit_scale=0.5, max_position_embeddings=64,
            initializer_range=0.5, pad_token_id=0, bos_token_id=0, eos_token_id=0,
        )
    ).save_pretrained(tmp_path)  # fmt: skip
    tokenizer(tmp_path)
    model = engine(tmp_path)
    assert not model.separate
    assert model.shares
    for text, score in zip(BRANCHES, model.score(requests(BRANCHES)), strict=True):
        assert score.logprob == pytest.approx(sum(alone(tmp_path, text)), abs=1e-4)


def _bloom(folder):  # distances come from the row: no positions can be given
    from transformers import BloomConfig, BloomForCausalLM

    return BloomForCausalLM(
        BloomConfig(
            vocab_size=400, hidden_size=32, n_layer=2, n_head=2, initializer_range=0.3,
            bos_token_id=0, eos_token_id=0, pad_token_id=0,
        )
    )  # fmt: skip


def _mamba(folder):  # no attention: there is nothing to mask
    from transformers import MambaConfig, MambaForCausalLM

    return MambaForCausalLM(
        MambaConfig(
            vocab_size=400, hidden_size=32, num_hidden_layers=2, state_size=4,
            initializer_range=0.3, bos_token_id=0, eos_token_id=0, pad_token_id=0,
        )
    )  # fmt: skip


def _window(folder):  # a window of four tokens, which a mask of ours would undo
    from transformers import MistralConfig, MistralForCausalLM

    return MistralForCausalLM(
        MistralConfig(
            vocab_size=400, hidden_size=32, intermediate_size=32, num_hidden_layers=2,
            num_attention_heads=2, num_key_value_heads=2, sliding_window=4, initializer_range=0.3,
            bos_token_id=0, eos_token_id=0,
        )
    )  # fmt: skip


@pytest.mark.parametrize("make", [_bloom, _mamba, _window])
def test_a_model_that_cannot_share_reads_whole_sentences(tmp_path, make):
    import torch

    torch.manual_seed(0)
    make(tmp_path).save_pretrained(tmp_path)
    tokenizer(tmp_path)
    model = engine(tmp_path)
    assert not model.shares
    for text, score in zip(TEXT, model.score(requests(TEXT)), strict=True):
        assert score.logprob == pytest.approx(sum(alone(tmp_path, text)), abs=1e-4)


def test_bfloat16_is_near_and_not_the_same(folder):
    exact = [s.logprob for s in engine(folder).score(requests(BRANCHES))]
    rough = [s.logprob for s in engine(folder, precision="bf16").score(requests(BRANCHES))]
    assert rough != pytest.approx(exact, abs=1e-4)
    assert rough == pytest.approx(exact, rel=0.02)


def test_a_gpu_that_is_not_there_is_an_error(folder, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(PoshgridError, match=r"scoring\.device: cuda, but torch sees no GPU"):
        engine(folder, device="cuda")


# ---- regions ----------------------------------------------------------------------------------


def region(text, part):
    start = text.index(part)
    return Request(text, "item r", (start, start + len(part)))


@pytest.mark.parametrize("part", ["Will", "Will the", "boy did", " boy did ", "leave?", "man"])
def test_a_region_is_the_sum_over_its_words(folder, part):
    request = region(TEXT[0], part)
    model = engine(folder)
    score = model.score([request], per_token=True)[0]
    start = 1 + len(TEXT[0][: request.region[0]].rstrip())  # with the prefix space
    position, inside = 0, []
    for token in score.each:
        position += len(token.text)
        if start < position <= request.region[1] + 1 and position - len(token.text) >= start - 1:
            inside.append(token.logprob)
    assert score.region_tokens == len(inside) > 0
    assert score.region_logprob == pytest.approx(sum(inside), abs=1e-9)
    assert score.logprob == pytest.approx(sum(alone(folder, TEXT[0])), abs=1e-4)


def test_regions_of_a_sentence_add_up_to_it(folder):
    text = "Who should the girl help — before seeing Zoë?"
    model = engine(folder)
    parts = [region(text, word) for word in text.split()]
    found = model.score(parts)
    assert sum(s.region_logprob for s in found) == pytest.approx(found[0].logprob, abs=1e-5)
    assert sum(s.region_tokens for s in found) == found[0].tokens
    assert model.score([Request(text, "x", (3, 3))])[0].region_tokens == 0


def test_a_region_that_cuts_a_token_names_the_item(folder):
    with pytest.raises(PoshgridError, match=r"item r: the region 'an wh' does not begin and end"):
        engine(folder).score([region(TEXT[0], "an wh")])
    with pytest.raises(PoshgridError, match=r"item r: its region holds the first token.*bos"):
        engine(folder, bos=False).score([region(TEXT[0], "Will the")])


# ---- cuts -------------------------------------------------------------------------------------


def test_the_first_word_is_cut_as_the_tokenizer_was_trained_to(folder, caplog):
    from tokenizers import Tokenizer

    written = Tokenizer.from_file(str(folder / "tokenizer.json"))
    model = engine(folder)
    cuts = cutting.cut(model.tokenizer, requests(TEXT), special=False)
    for text, found in zip(TEXT, cuts, strict=True):
        assert found.ids == written.encode(text).ids
    assert not caplog.records


def test_another_cut_than_the_files_is_reported(copy, caplog):
    from tokenizers import Tokenizer

    path = copy / "tokenizer.json"
    words = tokenizer(copy)
    path.write_text(
        path.read_text().replace('"add_prefix_space": true', '"add_prefix_space": false')
    )
    same_cuts(str(copy), Tokenizer.from_file(str(path)), words)
    assert "otherwise than its tokenizer.json says" in caplog.text


@pytest.mark.parametrize("lowercase", [True, False])
def test_every_member_of_a_suite_is_cut_as_training_cuts_it(tmp_path, root, lowercase):
    """What the scorer feeds a model is what the token folder holds for the same sentence."""
    import polars as pl

    from poshgrid import config
    from poshgrid.config import specs
    from poshgrid.evidence.schema import CONDITION
    from poshgrid.tokenization import encode
    from poshgrid.tokenization import tokenizer as tokenizers

    suite = generated(root)
    assert len(suite) > 50
    members = [*suite, "<|endoftext|> is no boundary here.", "Zoë said: “no”!", "ﬁne ﬁsh"]
    rows = [
        {name: _filler(kind) for name, kind in CONDITION.items()} | {"text": text, "n_words": 3}
        for text in members
    ]
    for split in ("train", "dev", "test"):
        pl.DataFrame(rows, schema=CONDITION).write_parquet(tmp_path / f"{split}.parquet")
    settings = config.Tokenizer(vocabulary_size=300, min_frequency=1, lowercase=lowercase)
    model = tmp_path / "model"
    tokenizers.train(specs.TokenizerSpec(tokenizer=settings), [tmp_path], model)
    encode.encode(tmp_path, model, tmp_path / "tokens")
    gpt2(model)
    written = encode.load(tmp_path / "tokens", "test")
    cuts = cutting.cut(engine(model).tokenizer, requests(members), special=False)
    for i, found in enumerate(cuts):
        first, last = written.offsets[i], written.offsets[i + 1]
        assert found.ids == written.ids[first + 1 : last].tolist(), members[i]


def generated(root):
    """Every member of a small suite from our templates and the words of the toy corpus."""
    import yaml

    from poshgrid.benchmark import lexicon
    from poshgrid.benchmark.context import Context
    from poshgrid.benchmark.suites import templates

    grammar = yaml.safe_load((root / "resources/toy/grammar.yaml").read_text())
    words = (root / "resources/toy/lexicon.yaml").read_text().split()
    text = " ".join([*words, *map(str, grammar["words"]), "wanna"])
    counts = dict.fromkeys(lexicon.tokens(text), 1)
    vocabulary = lexicon.usable(lexicon.read(), {"baby": counts, "wiki": counts}, 3_000)
    options = templates.Options(pairs=4)
    items = templates.load(None, options, Context(vocabulary)).items
    return sorted({*items["good"], *items["bad"]})


def _filler(kind):
    import polars as pl

    return {pl.String: "x", pl.Boolean: False}.get(kind, [] if isinstance(kind, pl.List) else 1)


# ---- completions ------------------------------------------------------------------------------


def test_beam_search_finds_what_trying_all_continuations_finds(tmp_path):
    """Three beams over a vocabulary that is tried out, word by word, without the library."""
    import torch
    from transformers import AutoModelForCausalLM

    words = tokenizer(tmp_path)
    gpt2(tmp_path, types=400, seed=3)
    model = engine(tmp_path)
    prompts = ["The mother said", "Who should", "The girl said"]
    found = model.complete(prompts, beams=3, tokens=3)
    plain = AutoModelForCausalLM.from_pretrained(tmp_path).eval()
    for prompt, text in zip(prompts, found, strict=True):
        beams = [(0.0, [0, *words(prompt)["input_ids"]])]
        length = len(beams[0][1])
        for _ in range(3):
            grown = []
            for value, row in beams:
                with torch.inference_mode():
                    nexts = plain(torch.tensor([row])).logits[0, -1].log_softmax(-1)
                grown += [(value + nexts[i].item(), [*row, i]) for i in range(400) if i]
            beams = sorted(grown, reverse=True)[:3]
        assert text == words.decode(beams[0][1][length:])
        assert not text.startswith(prompt)


def test_what_is_drawn_depends_on_the_seed_and_the_prompt_alone(folder):
    import torch

    prompts = [" ".join(text.split()[:2]) for text in TEXT[:4]]
    prompts = list(dict.fromkeys(prompts))
    drawn = engine(folder, decoding_seed=1).complete(prompts, beams=3, tokens=3)
    torch.manual_seed(99)
    state = torch.random.get_rng_state()
    again = engine(folder, decoding_seed=1).complete(prompts[::-1], beams=3, tokens=3)
    assert again[::-1] == drawn
    assert torch.equal(torch.random.get_rng_state(), state)  # nobody else's draws are moved
    others = [
        engine(folder, decoding_seed=s).complete(prompts, beams=3, tokens=3) for s in range(2, 6)
    ]
    plain = engine(folder).complete(prompts, beams=3, tokens=3)
    assert any(other != drawn for other in others)
    assert any(other != plain for other in others)


def test_prompts_that_are_empty_or_too_long_are_refused(folder):
    with pytest.raises(PoshgridError, match=r"prompt '' has no tokens"):
        engine(folder).complete([""], beams=3, tokens=3)
    with pytest.raises(PoshgridError, match=r"and 60 to follow: \d+ tokens, but .* sees 64"):
        engine(folder).complete([TEXT[0]], beams=3, tokens=60)


# ---- loading ----------------------------------------------------------------------------------


def test_sentences_without_or_with_too_many_tokens_are_refused(copy):
    with pytest.raises(PoshgridError, match=r"item 1: '' has 0 tokens"):
        engine(copy).score(requests(["the", ""]))
    engine(copy).score(requests(["the"]))
    with pytest.raises(PoshgridError, match=r"item 0: 'the' has 1 tokens.*scoring\.bos"):
        engine(copy, bos=False).score(requests(["the"]))
    gpt2(copy, context=8)
    words = engine(copy).tokenizer
    *_, short, longest = sorted(TEXT, key=lambda text: len(words(text)["input_ids"]))
    tokens = len(words(longest)["input_ids"]) + 1  # <bos>
    with pytest.raises(
        PoshgridError,
        match=rf"item 2: {tokens} tokens, but .* sees 8 at a time; 2 of 3 sentences are too long"
        rf".*set `positions` of its regimen to {tokens}",
    ):
        engine(copy).score(requests(["the man", short, longest]))


def _no_model(folder):
    (folder / "config.json").unlink()


def _no_weights(folder):
    (folder / "model.safetensors").unlink()


def _pickled_weights(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def _cut_weights(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:5_000])


def _broken_config(folder):
    (folder / "config.json").write_text("{")


def _other_shape(folder):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "n_embd": 64}))


def _more_layers(folder):
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "n_layer": 3}))


def _no_tokenizer(folder):
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()


def _no_bos(folder):
    tokenizer(folder, bos=False)


def _small_model(folder):
    gpt2(folder, types=100)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (_no_model, "config.json is missing"),
        (_no_weights, "cannot load the model"),
        (_pickled_weights, r"only pickled weights \(pytorch_model.bin\)"),
        (_cut_weights, "cannot load the model"),
        (_broken_config, "cannot load the model"),
        (_other_shape, "cannot load the model"),
        (_more_layers, "weights are missing, e.g. transformer.h.2"),
        (_no_tokenizer, "tokenizer.json is missing"),
        (_no_bos, "the tokenizer has no bos token"),
        (_small_model, "types but the model 100"),
    ],
)
def test_a_spoilt_model_gives_one_line(copy, spoil, message):
    spoil(copy)
    with pytest.raises(PoshgridError, match=message) as error:
        engine(copy)
    assert str(copy) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("raised", "message"),
    [
        (OSError("We couldn't connect\nto the hub"), r"connect to the hub.*hf download some/model"),
        (OSError("no file named model.safetensors"), "pickled weights are not read"),
    ],
)
def test_a_model_of_the_hub_that_cannot_be_had_gives_one_line(monkeypatch, raised, message):
    asked = {}

    def refuse(name, **given):
        asked.update(given, name=name)
        raise raised

    monkeypatch.setattr("transformers.AutoConfig.from_pretrained", refuse)
    with pytest.raises(PoshgridError, match=message) as error:
        load("some/model", Scoring(), revision="abc")
    assert str(error.value).startswith("some/model at revision abc: ")
    assert "\n" not in str(error.value)
    assert asked == {"name": "some/model", "revision": "abc", "trust_remote_code": False}


def test_code_that_comes_with_a_model_is_not_run(copy):
    path = copy / "config.json"
    path.write_text(
        json.dumps({
            **json.loads(path.read_text()), "model_type": "stranger",
            "auto_map": {"AutoConfig": "stranger.C", "AutoModelForCausalLM": "stranger.M"},
        })
    )  # fmt: skip
    (copy / "stranger.py").write_text(f"open({str(copy / 'ran')!r}, 'w')")
    with pytest.raises(PoshgridError, match="cannot load the model"):
        engine(copy)
    assert not (copy / "ran").exists()
