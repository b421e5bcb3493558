"""Doubled, leaked or misnamed text stops a run, in one line, unless its check is allowed."""

from __future__ import annotations

import random

import polars as pl
import pytest

from poshgrid.config import Condition, Corpus, specs
from poshgrid.corpora.mix import mix
from poshgrid.corpora.schema import SOURCE
from poshgrid.errors import PoshgridError
from poshgrid.evidence import prebuilt
from poshgrid.files import write_table

TALK = ["what's that?", "oh.", "do you want it?", "there you go.", "no."]


def prose(seed: int, sentences: int, words: int = 10) -> list[str]:
    """Sentences that differ, and among them some that everybody says."""
    rng = random.Random(seed)
    made = []
    for _ in range(sentences):
        made.append(" ".join(f"w{rng.randrange(5_000)}" for _ in range(words)) + ".")
        made.append(rng.choice(TALK))
    return made


def mixed(folder, sources: dict[str, dict[str, list[str]]], **more):
    corpus = Corpus.model_validate({
        "name": "it", "dev_words": 200, "test_words": 200, **more,
        "sources": [{"source": name, "words": {"1K": 1_000}} for name in sources],
    })  # fmt: skip
    tables = {name: folder / f"{name}.parquet" for name in sources}
    for name, documents in sources.items():
        rows = [
            (document, position, text, len(text.split()))
            for document, texts in documents.items()
            for position, text in enumerate(texts)
        ]
        write_table(pl.DataFrame(rows, schema=SOURCE, orient="row"), tables[name], SOURCE)
    return mix(specs.CorpusSpec(corpus=corpus, sizes=["1K"]), tables, folder / "sentences.parquet")


@pytest.mark.parametrize("where", ["another source", "the same document"])
def test_documents_that_a_base_has_twice_stop_it(tmp_path, where):
    """Other marks, capitals and a heading make no other text of it."""
    first, second = prose(1, 300), prose(2, 300)
    copy = ["A heading that the first edition does not have at all.", *map(str.upper, first)]
    sources = {"a": {"tale": first, "note": prose(3, 20)}, "b": {"talk": second}}
    assert "allowed" not in mixed(tmp_path, sources)
    if where == "another source":
        sources["b"]["story"] = copy
    else:
        sources["a"]["tale"] = [*first, *copy]
    with pytest.raises(PoshgridError, match=r"source 'a'.* such as tale;.*allow: \[copies\]"):
        mixed(tmp_path, sources)
    assert "copies" in mixed(tmp_path, sources, allow=["copies", "leak"])["allowed"]


@pytest.fixture
def texts():
    """A corpus of 40,001 words, less its three, as ready files."""
    return {"train": prose(1, 3_250), "dev": prose(2, 100), "test": prose(3, 100)}


def ready(folder, texts: dict[str, list[str]], allow=(), whole=40_000, **settings):
    folder.mkdir(exist_ok=True)
    for split, sentences in texts.items():
        (folder / f"{split}.txt").write_text("\n".join(sentences))
    condition = Condition(name="ready", corpus="baby", prebuilt="x")
    spec = specs.ConditionSpec(condition=condition, size="40K")
    return prebuilt.build(spec, folder, folder / "out", allow, whole=whole, **settings)


def test_twice_the_base_with_dev_inside_train_is_stopped(tmp_path, texts):
    """Four checks see it; each can be allowed, and is then recorded."""
    texts["train"] = [*texts["train"], *texts["dev"], *texts["train"]]
    with pytest.raises(PoshgridError, match="100 of 100 dev sentences") as stopped:
        ready(tmp_path, texts)
    words = {"size", "words", "leak", "copies"}
    assert len(stopped.value.args) == len(words)
    with pytest.raises(PoshgridError, match=r"allow: \[leak\]") as stopped:
        ready(tmp_path, texts, allow=[*(words - {"leak"})])
    assert len(stopped.value.args) == 1
    assert set(ready(tmp_path, texts, allow=[*words])["allowed"]) == words


@pytest.mark.parametrize(
    ("kept", "fewer", "stops"),
    [
        (0.995, False, False),  # half a per cent less
        (0.95, False, True),
        (0.95, True, False),  # evidence is gone
        (1.03, True, True),  # more than its corpus
    ],
)
def test_ready_files_have_the_words_of_their_base(tmp_path, texts, kept, fewer, stops):
    number = sum(len(text.split()) for text in texts["train"])
    corpus = {"fewer": fewer, "whole": round(number / kept)}
    assert ("allowed" in ready(tmp_path, texts, allow=["words"], **corpus)) == stops
