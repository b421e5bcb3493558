"""N-gram baselines against formulas written out with dictionaries, and hand-worked sums."""

import itertools
import json
import math
import random
from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poshgrid.core.errors import PoshgridError
from poshgrid.corpora import toy
from poshgrid.corpora.words import spans, words
from poshgrid.evaluation.engine import Request
from poshgrid.evaluation.engines import ngram as engine
from poshgrid.models.classes import ending, stays
from poshgrid.models.kneser_ney import FALLBACK
from poshgrid.models.ngram import NGram, count, fit
from tests.cases import read_cases
from tests.unit.models.training.training_support import write_condition, write_sentences

TEXTS = [drawn.text for drawn in itertools.islice(toy.sentences("baby", 1), 600)]
ORDERS = [1, 2, 3, 4, 5]
CASES = read_cases(__file__, "words")


def logprobs(model, sentence):
    return model.each([sentence])[0]


class Textbook:
    """Interpolated modified Kneser-Ney, line by line from the formulas; slow, on strings."""

    def __init__(self, sentences, order):
        self.order = order
        raw = [Counter() for _ in range(order + 1)]
        for sentence in sentences:
            row = ["<s>", *sentence, "</s>"]
            for n in range(1, order + 1):
                raw[n].update(tuple(row[i : i + n]) for i in range(len(row) - n + 1))
        self.types = {w for (w,) in raw[1]} - {"<s>"} | {"<unk>"}
        self.counts = [Counter() for _ in range(order + 1)]
        for n in range(1, order + 1):
            before = defaultdict(set)
            for first, *rest in raw[n + 1] if n < order else ():
                before[tuple(rest)].add(first)
            for gram, number in raw[n].items():
                if gram != ("<s>",):
                    whole = n == order or gram[0] == "<s>"
                    self.counts[n][gram] = number if whole else len(before[gram])
        self.discounts = [None] + [self.estimate(n) for n in range(1, order + 1)]
        self.after = defaultdict(dict)  # context -> word -> count
        for n in range(1, order + 1):
            for gram, number in self.counts[n].items():
                self.after[gram[:-1]][gram[-1]] = number

    def estimate(self, n):
        t = Counter(self.counts[n].values())
        if not (t[1] and t[2] and t[3]):
            return FALLBACK
        y = t[1] / (t[1] + 2 * t[2])
        taken = tuple(k - (k + 1) * y * t[k + 1] / t[k] for k in (1, 2, 3))
        return taken if all(0 < d <= k for k, d in zip((1, 2, 3), taken, strict=True)) else FALLBACK

    def p(self, word, context):
        if self.order == 1:  # an unknown word counts as seen once
            return (self.counts[1][(word,)] or 1) / (sum(self.counts[1].values()) + 1)
        n = len(context) + 1
        lower = self.p(word, context[1:]) if context else 1 / len(self.types)
        after = self.after.get(context)
        if not after:
            return lower
        total = sum(after.values())
        kept = sum(self.discounts[n][min(c, 3) - 1] for c in after.values())
        c = after.get(word, 0)
        discount = self.discounts[n][min(c, 3) - 1] if c else 0
        return (c - discount) / total + kept / total * lower

    def logprobs(self, sentence):
        row = ["<s>", *(w if w in self.types else "<unk>" for w in sentence), "</s>"]
        return [
            math.log(self.p(row[i], tuple(row[max(0, i - self.order + 1) : i])))
            for i in range(1, len(row))
        ]


# ---- words ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "expected"), CASES["words"])
def test_words(text, expected):
    assert words(text) == expected
    assert [span.word for span in spans(text)] == expected


# ---- estimation -----------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS)
def test_equals_the_formulas_on_toy_text(order):
    model, textbook = fit(TEXTS, order), Textbook(map(words, TEXTS), order)
    assert model.tables.fallbacks == []  # counts of counts give the discounts of every order
    for n, estimated in model.tables.discounts.items():
        assert estimated == pytest.approx(textbook.discounts[n], abs=1e-12)
    held_out = [drawn.text for drawn in itertools.islice(toy.sentences("wiki", 2), 60)]
    known = unknown = 0
    for text in [*TEXTS[:60], *held_out, "Dog the the the quux ?"]:
        row = words(text)
        known += sum(w in model for w in row)
        unknown += sum(w not in model for w in row)
        assert logprobs(model, row) == pytest.approx(textbook.logprobs(row), abs=1e-9)
    assert known > 500 and unknown > 10


SMALL = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=7), min_size=1, max_size=25)


@settings(deadline=None, max_examples=60)
@given(SMALL, st.lists(st.sampled_from("abcdxy"), max_size=8), st.sampled_from(ORDERS))
def test_equals_the_formulas_on_any_text(sentences, asked, order):
    model = fit(map(" ".join, sentences), order)
    assert logprobs(model, asked) == pytest.approx(
        Textbook(sentences, order).logprobs(asked), abs=1e-9
    )


# ---- classes --------------------------------------------------------------------------------

SEEN = ["The dog barked. Who's that?", "the dogs can't", "walking, quickly to John's teacher"]
CLASSES = [
    ["the", "<->", "<-ed>", ".", "who's", "that", "?"],
    ["the", "<-s>", "can't"],
    ["<-ing>", ",", "<-ly>", "to", "<-'s>", "<-er>"],
]


def test_function_words_stay_and_others_are_their_endings():
    assert [[w if stays(w) else ending(w) for w in words(text)] for text in SEEN] == CLASSES
    # short words have no ending; an ending is the last letters
    short = ["red", "king", "bus", "fly", "sings", "kings'"]
    assert [ending(word) for word in short] == ["<->", "<->", "<->", "<->", "<-s>", "<->"]


def test_n_grams_of_classes_are_those_of_the_classes():
    model, textbook = fit(SEEN, 3, classes=True), Textbook(CLASSES, 3)
    for text, row in zip(SEEN, CLASSES, strict=True):
        assert logprobs(model, words(text)) == pytest.approx(textbook.logprobs(row), abs=1e-9)
    one, same, other = model.score(["The cat jumped.", "the zyx LIKED .", "a cat jumped."])
    assert one == same != other


def test_a_class_model_is_read_as_it_was_counted(tmp_path):
    facts = count(condition(tmp_path, TEXTS), tmp_path / "model", order=4, classes=True)
    assert NGram.load(tmp_path / "model").score(TEXTS) == fit(TEXTS, 4, classes=True).score(TEXTS)
    assert facts["types"] == len({word for text in TEXTS for word in words(text)})
    assert facts["ngrams"]["1"] < facts["types"]
    count(condition(tmp_path, TEXTS), tmp_path / "words", order=4)
    assert "classes" not in json.loads((tmp_path / "words/config.json").read_text())


# ---- tables to folders ----------------------------------------------------------------------


def condition(folder, texts):
    return write_condition(folder, train=texts) / "train.parquet"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A corpus of two sizes, with sentences of no size, dev and test."""
    rows = [
        *((text, "train", "10K") for text in TEXTS[:200]),
        *((text, "train", "20K") for text in TEXTS[200:400]),
        *(("quux .", split, "") for split in ("train", "dev", "test")),
    ]
    return write_sentences(tmp_path_factory.mktemp("base") / "s.parquet", rows)


@pytest.mark.parametrize(("size", "end"), [("10K", 200), ("20K", 400), (None, 400)])
def test_a_base_is_counted_by_its_training_sentences_of_a_size(corpus, tmp_path, size, end):
    facts = count(corpus, tmp_path / "model", order=3, size=size)
    read, fitted = NGram.load(tmp_path / "model"), fit(TEXTS[:end], 3)
    assert "quux" not in read and "Dog" in read
    assert read.score(TEXTS) == fitted.score(TEXTS)
    tokens = [words(text) for text in TEXTS[:end]]
    types = {w for row in tokens for w in row}
    rows = [["<s>", *row, "</s>"] for row in tokens]
    trigrams = {tuple(row[i : i + 3]) for row in rows for i in range(len(row) - 2)}
    assert (facts["sentences"], facts["words"]) == (end, sum(map(len, tokens)))
    assert (facts["types"], facts["ngrams"]["1"]) == (len(types), len(types) + 2)
    assert (facts["ngrams"]["3"], facts["order"]) == (len(trigrams), 3)
    assert json.loads((tmp_path / "model" / "statistics.json").read_text()) == facts


@pytest.mark.parametrize("order", [1, 4])
def test_the_order_of_sentences_and_batches_changes_nothing(tmp_path, monkeypatch, order):
    shuffled = random.Random(5).sample(TEXTS, len(TEXTS))
    for name, texts in {"a": TEXTS, "b": shuffled}.items():
        count(condition(tmp_path / f"{name}-text", texts), tmp_path / name, order=order)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
    one, asked = NGram.load(tmp_path / "a"), [*TEXTS[:30], "quux the"]
    rows = [logprobs(one, words(text)) for text in asked]
    heard = one.times(["<s> the", "what … the", "the the"])
    assert [number > 0 for number in heard] == [order == 1, order == 1, False]
    monkeypatch.setattr("poshgrid.models.ngram._BATCH", 7)
    other = fit(shuffled, order)
    assert other.times(["<s> the", "what … the", "the the"]) == heard
    assert one.each([words(text) for text in asked]) == rows
    assert other.score(asked) == [math.fsum(row) for row in rows]


def test_tables_that_cannot_be_counted(corpus, tmp_path):
    empty = condition(tmp_path / "empty", [])
    for table, size in ((corpus, "5K"), (empty, None)):
        with pytest.raises(PoshgridError, match=rf"{table.name}: no training sentences"):
            count(table, tmp_path / "model", order=2, size=size)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("model.safetensors", lambda content: content[:-100]),
        ("config.json", lambda content: content.replace(b'"order": 2', b'"order": 3')),
    ],
)
def test_a_broken_folder_is_named(tmp_path, file, change):
    out = tmp_path / "model"
    count(condition(tmp_path, TEXTS[:50]), out, order=2)
    NGram.load(out)
    (out / file).write_bytes(change((out / file).read_bytes()))
    with pytest.raises(PoshgridError, match=f"^{out}"):
        NGram.load(out)


# ---- engine ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    out = tmp_path_factory.mktemp("engine")
    count(condition(out, TEXTS), out / "model", order=3)
    return engine.Engine(NGram.load(out / "model"))


def test_the_engine_gives_sums_regions_and_tokens(loaded):
    text = "The dog doesn't see the girl."
    row = logprobs(loaded.model, ["the", "dog", "doesn't", "see", "the", "girl", "."])
    requests = [Request("A dog.", "x"), Request(text, "y", (text.index("doesn't"), 19))]
    assert text[requests[1].region[0] : 19] == "doesn't see"
    other, score = loaded.score(requests)
    assert other.logprob == math.fsum(logprobs(loaded.model, ["a", "dog", "."]))
    assert (other.tokens, other.region_logprob, other.region_tokens) == (4, 0.0, 0)
    assert (score.logprob, score.tokens) == (math.fsum(row), 8)
    assert (score.region_logprob, score.region_tokens) == (math.fsum(row[2:4]), 2)
    assert loaded.device == "cpu"
    for cut in ((text.index("oesn't"), 19), (text.index("see"), 18)):  # within a word
        with pytest.raises(PoshgridError, match="posh: item 1"):
            loaded.score([Request(text, "posh: item 1 (bad)", cut)])
