"""Regions, lengths and sums of tokens, by hand, with a tokenizer that cuts where it is told."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from poshgrid.errors import PoshgridError
from poshgrid.evaluation import tokenized
from poshgrid.evaluation.engine import Request


class Spans:
    """A tokenizer that cuts where it is told; the last token is a special one."""

    is_fast = True

    def __init__(self, *spans):
        self.spans = list(spans)

    def __call__(self, texts, **given):
        n = len(self.spans)
        found = {"input_ids": [list(range(n)) for _ in texts]}
        found["special_tokens_mask"] = [[0] * (n - 1) + [1] for _ in texts]
        found["offset_mapping"] = [self.spans for _ in texts]
        return found


#        0123456789
TEXT = "a dog, too"
WORDS = [(0, 1), (1, 5), (5, 6), (6, 10)]  # each with the space before it


def region(text, start, end, *spans):
    (found,) = tokenized.tokenize(
        Spans(*spans), [Request(text, "item", (start, end))], special=False
    )
    return found.region


@pytest.mark.parametrize(
    ("start", "end", "tokens"),
    [
        (0, 1, [0]),
        (2, 5, [1]),
        (1, 5, [1]),  # with the space before
        (5, 7, [2]),  # with the space after
        (0, 10, [0, 1, 2, 3]),
        (3, 3, []),
    ],
)
def test_the_tokens_of_a_region(start, end, tokens):
    assert region(TEXT, start, end, *WORDS) == tokens


@pytest.mark.parametrize(("start", "end"), [(3, 5), (2, 4), (3, 4), (1, 2), (6, 7)])
def test_a_region_that_no_tokens_make_up_is_refused(start, end):
    with pytest.raises(PoshgridError, match=r"item: the region .* does not begin and end at"):
        region(TEXT, start, end, *WORDS)


def test_a_space_that_is_a_token_belongs_to_the_word_that_follows():
    spans = [(0, 1), (1, 2), (2, 5), (5, 6), (6, 7), (7, 10)]
    assert region(TEXT, 2, 5, *spans) == [1, 2]
    assert region("a  dog", 3, 6, (0, 1), (1, 2), (2, 3), (3, 6)) == [1, 2, 3]
    assert region("a dog ", 2, 5, (0, 1), (1, 5), (5, 6)) == [1]  # none follows
    assert region("a dog", 2, 5, (0, 1), (1, 5), (5, 5)) == [1]


def test_tokens_that_share_a_letter_are_all_in_its_region():
    """A letter of two bytes may be two tokens, each of which is said to span it."""
    assert region("a é b", 2, 3, (0, 1), (1, 3), (2, 3), (3, 5)) == [1, 2]


def test_a_line_break_is_a_token_or_refused():
    """A byte pair knows it; a list of words does not, and BERT takes it for a space."""
    alphabet = {c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    byte = Tokenizer(models.BPE(alphabet, []))
    byte.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words = Tokenizer(models.WordLevel({"a": 0, "b": 1, "<unk>": 2}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Split(" ", "removed")
    spaced = Tokenizer(models.WordLevel({"a": 0, "b": 1, "<unk>": 2}, unk_token="<unk>"))
    spaced.pre_tokenizer = pre_tokenizers.Whitespace()
    request = Request("a\nb", "item")
    wrapped = PreTrainedTokenizerFast(tokenizer_object=byte)
    (found,) = tokenized.tokenize(wrapped, [request], special=False)
    assert found.ids == [alphabet["a"], alphabet["Ċ"], alphabet["b"]]
    for tokenizer in (words, spaced):
        wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")
        with pytest.raises(PoshgridError, match="item: a line break"):
            tokenized.tokenize(wrapped, [request], special=False)
        assert tokenized.tokenize(wrapped, [Request("a b", "item")], special=False)[0].ids == [0, 1]


def test_special_tokens_are_none_of_the_sentences_own():
    tokenizer = Spans(*WORDS, (0, 0))
    (found,) = tokenized.tokenize(tokenizer, [Request(TEXT, "item", (6, 10))], special=True)
    assert found == tokenized.Tokenized([0, 1, 2, 3, 4], [0, 1, 2, 3], [3])


def test_without_offsets_regions_are_refused_and_sentences_are_not():
    tokenizer = Spans(*WORDS)
    tokenizer.is_fast = False
    assert tokenized.tokenize(tokenizer, [Request(TEXT, "item")], special=False)[0].own == [
        0,
        1,
        2,
        3,
    ]
    with pytest.raises(PoshgridError, match=r"item: Spans does not say where tokens begin"):
        tokenized.tokenize(tokenizer, [Request(TEXT, "item", (0, 1))], special=False)


def test_a_sentence_is_the_sum_of_its_scored_tokens():
    request = Request("a b c", "item", (2, 5))
    assert tokenized.total(request, [1, 2], [None, -1.5, -0.25]) == (-1.75, 2, -1.75, 2)
    assert tokenized.total(request, [2], [-4.0, -1.5, -0.25]) == (-5.75, 3, -0.25, 1)
    with pytest.raises(PoshgridError, match=r"item: its region has the first token"):
        tokenized.total(request, [0, 1], [None, -1.5, -0.25])
