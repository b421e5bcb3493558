"""Tiny language models and tokenizers, built on the spot, for tests of scoring."""

from __future__ import annotations

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


def unigram(folder: Path, logits: list[float]):
    """Save a GPT-2 whose next-token logits are the given ones, whatever the context."""
    model = gpt2(folder, types=len(logits))
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
        model.transformer.ln_f.bias[0] = 1.0  # the last state is the first unit vector
        model.transformer.wte.weight[:, 0] = torch.tensor(logits)
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
