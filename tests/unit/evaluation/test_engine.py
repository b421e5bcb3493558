"""Regions, lengths and sums of tokens, by hand, with a tokenizer that cuts where it is told."""

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from poshgrid.core.errors import PoshgridError
from poshgrid.evaluation.engine import Request, Tokenized, tokenize, total
from tests.cases import read_cases

CASES = read_cases(__file__, "regions")


class Spans:
    """A tokenizer that cuts where it is told; the last token is a special one."""

    is_fast = True

    def __init__(self, *spans):
        self.spans = list(spans)

    def __call__(self, texts, **options):
        n = len(self.spans)
        encoding = {"input_ids": [list(range(n)) for _ in texts]}
        encoding["special_tokens_mask"] = [[0] * (n - 1) + [1] for _ in texts]
        encoding["offset_mapping"] = [self.spans for _ in texts]
        return encoding


#        0123456789
TEXT = "a dog, too"
WORDS = [(0, 1), (1, 5), (5, 6), (6, 10)]  # each with the space before it


def region(text, start, end, *spans):
    (cut,) = tokenize(Spans(*spans), [Request(text, "item", (start, end))], special=False)
    return cut.region


@pytest.mark.parametrize(("start", "end", "tokens"), CASES["words"])
def test_the_tokens_of_a_region(start, end, tokens):
    if tokens is None:
        with pytest.raises(PoshgridError, match=r"item: the region .* does not begin and end at"):
            region(TEXT, start, end, *WORDS)
    else:
        assert region(TEXT, start, end, *WORDS) == tokens


@pytest.mark.parametrize(("text", "start", "end", "spans", "tokens"), CASES["spaces"])
def test_tokens_that_are_spaces_or_share_a_letter(text, start, end, spans, tokens):
    assert region(text, start, end, *map(tuple, spans)) == tokens


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
    (cut,) = tokenize(wrapped, [request], special=False)
    assert cut.ids == [alphabet["a"], alphabet["Ċ"], alphabet["b"]]
    for tokenizer in (words, spaced):
        wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")
        with pytest.raises(PoshgridError, match="item: a line break"):
            tokenize(wrapped, [request], special=False)
        assert tokenize(wrapped, [Request("a b", "item")], special=False)[0].ids == [0, 1]


def test_special_tokens_are_none_of_the_sentences_own_and_offsets_are_needed_for_regions():
    tokenizer = Spans(*WORDS, (0, 0))
    (cut,) = tokenize(tokenizer, [Request(TEXT, "item", (6, 10))], special=True)
    assert cut == Tokenized([0, 1, 2, 3, 4], [0, 1, 2, 3], [3])
    tokenizer.is_fast = False
    (cut,) = tokenize(tokenizer, [Request(TEXT, "item")], special=True)
    assert cut.own == [0, 1, 2, 3]
    with pytest.raises(PoshgridError, match=r"item: Spans does not say where tokens begin"):
        tokenize(tokenizer, [Request(TEXT, "item", (0, 1))], special=False)


def test_a_sentence_is_the_sum_of_its_scored_tokens():
    request = Request("a b c", "item", (2, 5))
    assert total(request, [1, 2], [None, -1.5, -0.25]) == (-1.75, 2, -1.75, 2)
    assert total(request, [2], [-4.0, -1.5, -0.25]) == (-5.75, 3, -0.25, 1)
    with pytest.raises(PoshgridError, match=r"item: its region has the first token"):
        total(request, [0, 1], [None, -1.5, -0.25])
