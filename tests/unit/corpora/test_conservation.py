"""Doubled, leaked or misnamed text stops a run, in one line, unless its check is allowed."""

from __future__ import annotations

import random

import polars as pl
import pytest

from poshgrid.config import Corpus, specs
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import write_table
from poshgrid.corpora.mix import mix
from poshgrid.corpora.schema import SOURCE

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


def test_dev_text_of_its_own_that_is_trained_on_stops_a_corpus(tmp_path):
    """In files or folders of their names, as publishers lay them out."""
    texts = {"train/x-0": prose(1, 300), "dev/x-0": prose(2, 100), "test-0": prose(3, 100)}
    assert "allowed" not in mixed(tmp_path, {"a": texts}, splits="published")
    texts["train/x-0"] = texts["dev/x-0"][:60] + texts["train/x-0"]
    with pytest.raises(PoshgridError, match=r"30 of 100 dev sentences .*allow: \[leak\]"):
        mixed(tmp_path, {"a": texts}, splits="published")
    allowed = mixed(tmp_path, {"a": texts}, splits="published", allow=["leak"])["allowed"]
    assert set(allowed) == {"leak"}
