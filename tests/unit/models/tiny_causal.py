"""Tiny language models and tokenizers, built on the spot, and scores without our engines."""

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForMaskedLM,
)

from poshgrid.config import Scoring
from poshgrid.evaluation.engine import Engine, Request
from poshgrid.evaluation.engines.load import load

TEXT = [
    "Will the man who the boy did see leave?",
    "Who should the girl help before seeing Mary?",
    "The mother said that John's brother likes himself.",
    "When does the happy baby wanna sleep?",
]


def _pairs(special: list[str]) -> Tokenizer:
    """Return a byte-level BPE with a prefix space, trained on four sentences."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    bpe.train_from_iterator(TEXT, trainer)
    return bpe


def tokenizer(folder: Path, *, bos: bool = True):
    """Save a tokenizer of a causal model; return it."""
    special = {"bos_token": "<bos>", "eos_token": "<bos>"} if bos else {}
    fast = PreTrainedTokenizerFast(tokenizer_object=_pairs(["<bos>"]), **special)
    fast.save_pretrained(folder)
    return fast


def gpt2(folder: Path, *, types: int = 400, context: int = 64, seed: int = 0):
    """Save a GPT-2 of two layers with random weights, wide enough to be far from uniform."""
    torch.manual_seed(seed)
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=types, n_positions=context, n_embd=32, n_layer=2, n_head=2,
            initializer_range=0.3, bos_token_id=0, eos_token_id=0,
        )
    )  # fmt: skip
    model.save_pretrained(folder)
    return model


def roberta(folder: Path, *, context: int = 64, seed: int = 0):
    """Save a RoBERTa of two layers with random weights, and its tokenizer; return both."""
    bpe = _pairs(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    bpe.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    words = PreTrainedTokenizerFast(
        tokenizer_object=bpe, bos_token="<s>", pad_token="<pad>", eos_token="</s>",
        unk_token="<unk>", mask_token="<mask>", cls_token="<s>", sep_token="</s>",
    )  # fmt: skip
    words.save_pretrained(folder)
    torch.manual_seed(seed)
    model = RobertaForMaskedLM(
        RobertaConfig(
            vocab_size=400, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
            num_attention_heads=2, max_position_embeddings=context + 2, pad_token_id=1,
            bos_token_id=0, eos_token_id=2, initializer_range=0.3, type_vocab_size=1,
        )
    ).eval()  # fmt: skip
    model.save_pretrained(folder)
    return model, words


# ---- scores -----------------------------------------------------------------------------------


def engine(folder: Path, **scoring: object) -> Engine:
    """Return the engine of a model's folder."""
    return load(str(folder), Scoring(**scoring))


def requests(texts: Sequence[str]) -> list[Request]:
    """Return one request a text, by number."""
    return [Request(text, f"item {i}") for i, text in enumerate(texts)]


def left_to_right(model: torch.nn.Module, ids: Sequence[int]) -> list[float]:
    """Return the log-probability of each token but the first: one row, the model's own logits."""
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([ids[:-1]])).logits[0]
    return logits.double().log_softmax(-1)[range(len(ids) - 1), ids[1:]].tolist()


def one_by_one(model: torch.nn.Module, ids: Sequence[int], mask: int | None) -> list[float]:
    """Return the log-probability of each token inside, masked in its turn; no mask: as it is."""
    logprobs = []
    for k in range(1, len(ids) - 1):
        shown = torch.tensor([ids])
        shown[0, k] = ids[k] if mask is None else mask
        with torch.inference_mode():
            logits = model(input_ids=shown).logits[0, k]
        logprobs.append(logits.double().log_softmax(-1)[ids[k]].item())
    return logprobs


def search(
    following: Callable[[list[int]], Sequence[float]], row: list[int], beams: int, steps: int
) -> tuple[list[int], int]:
    """Continue a row by beam search without a state; token 0 ends a beam.

    Returns:
        The best continuation, and how often a beam went on from another one's row.
    """
    running, finished, switched = [(0.0, row, 0)], [], 0
    for step in range(steps):
        grown = [
            (value + logprob, [*ids, token], number)
            for number, (value, ids, _) in enumerate(running)
            for token, logprob in enumerate(following(ids))
        ]
        best = sorted(grown, reverse=True)[: 2 * beams]
        finished += [(value / (step + 1), ids) for value, ids, _ in best[:beams] if ids[-1] == 0]
        running = [one for one in best if one[1][-1]][:beams]
        switched += [one[2] for one in running] != list(range(len(running)))
    finished += [(value / steps, ids) for value, ids, _ in running]
    return max(finished)[1][len(row) :], switched
