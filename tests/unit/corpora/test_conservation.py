"""Doubled, leaked or misnamed text stops a run, in one line, unless its check is allowed."""

from __future__ import annotations

import random

import polars as pl
import pytest

from poshgrid.config import Base, Condition, Source, specs
from poshgrid.corpora.mix import mix
from poshgrid.corpora.read import read_source
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


def table(path, documents: dict[str, list[str]]):
    rows = [
        (name, position, text, len(text.split()))
        for name, texts in documents.items()
        for position, text in enumerate(texts)
    ]
    write_table(pl.DataFrame(rows, schema=SOURCE, orient="row"), path, SOURCE)
    return path


def mixed(folder, sources: dict[str, dict[str, list[str]]], **more):
    base = Base.model_validate({
        "name": "it", "dev_words": 200, "test_words": 200, **more,
        "sources": [{"source": name, "words": {"1K": 1_000}} for name in sources],
    })  # fmt: skip
    tables = {name: table(folder / f"{name}.parquet", docs) for name, docs in sources.items()}
    return mix(specs.BaseSpec(base=base, sizes=["1K"]), tables, folder / "sentences.parquet")


def line(stopped) -> str:
    assert len(stopped.value.args) == 1 and "\n" not in str(stopped.value)
    return str(stopped.value)


# ---- the same text twice -------------------------------------------------------------------------


def test_a_copied_file_stops_its_source(tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("a.txt", "copy.txt", "other.txt"):
        text = "\n".join(prose(1 if name != "other.txt" else 2, 50))
        (tmp_path / "in" / name).write_text(text)
    given = {"name": "s", "reader": "text", "path": "in"}
    with pytest.raises(PoshgridError) as stopped:
        read_source(specs.SourceSpec(source=given), tmp_path, tmp_path / "s.parquet")
    assert "copy.txt: holds the same as" in line(stopped)
    assert not (tmp_path / "s.parquet").exists()
    allowed = Source(**given, allow=["copies"])
    found = read_source(specs.SourceSpec(source=allowed), tmp_path, tmp_path / "s.parquet")
    assert list(found["allowed"]) == ["copies"]
    (tmp_path / "in" / "copy.txt").unlink()
    found = read_source(specs.SourceSpec(source=given), tmp_path, tmp_path / "s.parquet")
    assert found["files"] == 2 and "allowed" not in found


@pytest.mark.parametrize("where", ["another source", "another document", "the same document"])
def test_documents_that_a_base_has_twice_stop_it(tmp_path, where):
    """Other marks, capitals and a heading make no other text of it."""
    first, second = prose(1, 300), prose(2, 300)
    copy = ["A heading that the first edition does not have at all.", *map(str.upper, first)]
    sources = {"a": {"tale": first, "note": prose(3, 20)}, "b": {"talk": second}}
    assert "allowed" not in mixed(tmp_path, sources)
    if where == "another source":
        sources["b"]["story"] = copy
    else:
        sources["a"]["story" if where == "another document" else "tale"] = (
            copy if where == "another document" else [*first, *copy]
        )
    with pytest.raises(PoshgridError) as stopped:
        mixed(tmp_path, sources)
    text = "\n".join(stopped.value.args)
    assert "source 'a'" in text and "tale of a" in text and "allow: [copies]" in text
    found = mixed(tmp_path, sources, allow=["copies", "leak"])
    assert "copies" in found["allowed"]


# ---- ready files ---------------------------------------------------------------------------------


@pytest.fixture
def texts():
    """A base of 40,001 words, less its three, as ready files."""
    return {"train": prose(1, 3_250), "dev": prose(2, 100), "test": prose(3, 100)}


def ready(folder, texts: dict[str, list[str]], size: str = "40K", **given):
    folder.mkdir(exist_ok=True)
    for split, sentences in texts.items():
        (folder / f"{split}.txt").write_text("\n".join(sentences))
    condition = Condition(name="ready", base="baby", prebuilt="x")
    spec = specs.ConditionSpec(condition=condition, size=size)
    beside = specs.BesideSpec(**{"words": 40_000, **given})
    return prebuilt.build(spec, folder, folder / "out", beside)


def test_twice_the_base_with_dev_inside_train_is_stopped(tmp_path, texts):
    """Four checks see it; each can be allowed, and is then recorded."""
    texts["train"] = [*texts["train"], *texts["dev"], *texts["train"]]
    with pytest.raises(PoshgridError) as stopped:
        ready(tmp_path, texts)
    words = {"size", "words", "leak", "copies"}
    assert len(stopped.value.args) == len(words)
    assert all("\n" not in each for each in stopped.value.args)
    assert "100 of 100 dev sentences" in str(stopped.value)
    with pytest.raises(PoshgridError) as stopped:
        ready(tmp_path, texts, allow=[*(words - {"leak"})])
    assert "allow: [leak]" in line(stopped)
    assert set(ready(tmp_path, texts, allow=[*words])["allowed"]) == words


@pytest.mark.parametrize(
    ("kept", "fewer", "check"),
    [
        (0.995, False, None),  # half a per cent less
        (0.95, False, "words"),
        (0.95, True, None),  # evidence is gone
        (1.03, True, "words"),  # more than its base
    ],
)
def test_ready_files_have_the_words_of_their_base(tmp_path, texts, kept, fewer, check):
    number = sum(len(text.split()) for text in texts["train"])
    given = {"fewer": fewer, "words": round(number / kept)}
    if check is None:
        assert "allowed" not in ready(tmp_path, texts, **given)
        return
    with pytest.raises(PoshgridError) as stopped:
        ready(tmp_path, texts, **given)
    assert f"allow: [{check}]" in line(stopped)
