"""The mixture: nested, exact to one sentence, disjoint, deterministic; and what it refuses."""

from __future__ import annotations

import hashlib
import random

import polars as pl
import pytest

from poshgrid.config import Corpus, specs
from poshgrid.core import database
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import read_json, read_table, write_table
from poshgrid.corpora.mix import mix
from poshgrid.corpora.schema import SENTENCES, SOURCE, trains
from tests.unit.corpora.reader_support import put, table_of

SIZES = ["1K", "3K", "5K"]
PORTIONS = {
    "a": {"1K": 600, "3K": 2_000, "5K": 3_000}, "b": {"1K": 400, "3K": 1_000, "5K": 2_000},
}  # fmt: skip


def source(path, name: str, words: int, seed: int = 1):
    """Documents of 1-20 sentences; about a third of the sentences occur more than once."""
    rng, rows, total, document = random.Random(f"{name}{seed}"), [], 0, 0
    while total < words:
        document += 1
        for position in range(rng.randint(1, 20)):
            n = rng.randint(1, 9)
            common = rng.random() < 0.3
            first = rng.choice("xyz") if common else f"{name}{rng.randrange(10**9)}"
            text = " ".join([first] + ["w"] * (n - 1))
            rows.append((f"d{document:04d}", position, text, n))
            total += n
    return save(path, rows)


def save(path, rows):
    write_table(pl.DataFrame(rows, schema=SOURCE, orient="row"), path, SOURCE)
    return path


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    return {name: source(folder / f"{name}.parquet", name, 9_000) for name in PORTIONS}


def base_spec(sizes=SIZES, portions=PORTIONS, **keys) -> specs.CorpusSpec:
    sources = [{"source": name, "words": words} for name, words in portions.items()]
    corpus = {"name": "it", "sources": sources, "dev_words": 300, "test_words": 200, **keys}
    return specs.CorpusSpec(corpus=Corpus.model_validate(corpus), sizes=sizes)


@pytest.fixture(scope="module")
def mixed(tables, tmp_path_factory):
    output = tmp_path_factory.mktemp("base") / "sentences.parquet"
    statistics = mix(base_spec(), tables, output)
    return read_table(output, SENTENCES), statistics, output


def test_a_size_does_not_depend_on_larger_ones(tables, mixed, tmp_path):
    mix(base_spec(sizes=["1K"]), tables, tmp_path / "sentences.parquet")
    alone = read_table(tmp_path / "sentences.parquet", SENTENCES)
    small = mixed[0].filter(pl.col("size").is_in(["1K", ""]))
    assert alone.drop("sent_id").equals(small.drop("sent_id"))


def test_against_a_plain_python_mixture(mixed, tables):
    """The rule again, without polars: order documents by digest, hold out, fill up."""

    def digest(*parts):
        return hashlib.blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()

    pool = {n: list(pl.read_parquet(p).iter_rows()) for n, p in tables.items()}
    every = [row[2] for rows in pool.values() for row in rows]
    for name, rows in pool.items():
        rows.sort(key=lambda r: (digest("42", name, r[0]), r[0], r[1]))
        candidates = sorted((r for r in rows if every.count(r[2]) == 1),
                            key=lambda r: digest("42", "heldout", r[2]))  # fmt: skip
        expected = {}
        share = {"a": 0.6, "b": 0.4}[name]
        for split, budget in (("dev", 300 * share), ("test", 200 * share)):
            expected[split], total = [], 0
            while total < budget:
                row = candidates.pop(0)
                expected[split].append((row[2], ""))
                total += row[3]
        gone = {text for part in expected.values() for text, _ in part}
        expected["train"], total = [], 0
        for row in rows:
            sizes = [s for s in SIZES if total < PORTIONS[name][s]]
            if row[2] not in gone and sizes:
                expected["train"].append((row[2], sizes[0]))
                total += row[3]
        for split, texts in expected.items():
            mine = mixed[0].filter((pl.col("split") == split) & (pl.col("source") == name))
            assert list(mine.select("text", "size").iter_rows()) == texts


def test_published_splits_are_kept(tmp_path):
    """The corpus of Gulordava et al., from its files: what is held out is theirs, whole."""
    texts = {
        name: [f"{name} line {n} of <unk> ." for n in range(lines)]
        for name, lines in (("train", 450), ("valid", 130), ("test", 40))
    }
    for name, sentences in texts.items():
        put(tmp_path, f"g/{name}.txt", "".join(f"{text} <eos> \n" for text in sentences))
    table_of(tmp_path, "gulordava", "g")
    tables = {"it": tmp_path / "out/sentences.parquet"}
    spec = base_spec(["2K"], {"it": {"2K": "2K"}}, splits="published")
    statistics = mix(spec, tables, tmp_path / "corpus" / "sentences.parquet")
    frame = read_table(tmp_path / "corpus" / "sentences.parquet", SENTENCES)
    for split, name in (("dev", "valid"), ("test", "test")):
        assert frame.filter(pl.col("split") == split)["text"].to_list() == texts[name]
    train = frame.filter(pl.col("split") == "train")
    assert (train.height, statistics["train"]["2K"]["words"]) == (334, 2_004)
    assert set(train["text"]) < set(texts["train"])
    mix(base_spec(["3K"], {"it": {"3K": 2_700}}, splits="published"), tables, tmp_path / "y/s")
    with pytest.raises(PoshgridError, match=r"needs 2,701 words.* short by 1;"):
        mix(base_spec(["3K"], {"it": {"3K": 2_701}}, splits="published"), tables, tmp_path / "x/s")
    # test.txt and train.txt come before valid.txt: a source that stops early has no dev text
    table_of(tmp_path, "gulordava", "g", words=2_400)
    with pytest.raises(PoshgridError, match="'it' has no dev text of its own"):
        mix(spec, tables, tmp_path / "x/s")


def test_a_file_of_no_split_is_not_trained_on(tmp_path):
    for name in ("train", "dev", "test", "vocab"):
        lines = (f"{name} has a line {number}.\n" for number in range(600))
        put(tmp_path, f"t/{name}.txt", "".join(lines))
    table_of(tmp_path, "text", "t")
    spec = base_spec(["2K"], {"it": {"2K": "2K"}}, splits="published")
    with pytest.raises(PoshgridError, match="'it': vocab"):
        mix(spec, {"it": tmp_path / "out/sentences.parquet"}, tmp_path / "x/s")
    (tmp_path / "t/vocab.txt").unlink()
    table_of(tmp_path, "text", "t")
    mix(spec, {"it": tmp_path / "out/sentences.parquet"}, tmp_path / "x/s")


@pytest.mark.parametrize("order", ["given", "reversed"])
def test_an_order_moves_documents_and_changes_nothing_else(tables, mixed, tmp_path, order):
    output = tmp_path / "sentences.parquet"
    assert mix(base_spec(order=order), tables, output) == mixed[1]
    frame = read_table(output, SENTENCES)
    same = [name for name in SENTENCES if name != "sent_id"]
    keys = ["split", "source", "rank"]
    assert frame.select(same).sort(keys).equals(mixed[0].select(same).sort(keys))
    assert not frame.select(same).equals(mixed[0].select(same))
    for name in PORTIONS:
        rows = frame.filter((pl.col("split") == "train") & (pl.col("source") == name))
        # documents are named by their place in the source
        asked = rows.sort(["document", "position"], descending=[order == "reversed", False])
        assert rows.equals(asked)


def test_statistics_add_up(mixed):
    frame, statistics, output = mixed
    assert read_json(output.with_name("statistics.json")) == statistics
    assert statistics["budget"]["3K"] == {"a": 2000, "b": 1000}
    for split, counts in (("train", statistics["train"]["5K"]), ("dev", statistics["dev"])):
        rows = frame.filter(pl.col("split") == split)
        assert (counts["words"], counts["sentences"]) == (rows["n_words"].sum(), rows.height)
        assert counts["words"] == sum(source["words"] for source in counts["sources"].values())


def test_a_base_larger_than_memory_has_the_same_bytes(tmp_path, monkeypatch):
    """30 MB of text and 32 MB of memory; a sentence is alone, repeated, or in both sources."""
    sources, written = {name: tmp_path / f"{name}.parquet" for name in PORTIONS}, []
    for name, path in sources.items():
        rows = [
            (f"d{n * 7_919 % 3_001}", 20_000 - n, f"{number}{' and on' * 100}", 201)
            for n in range(20_000)
            for number in [f"in {name} {n}" if n % 3 else n % 1_000]
        ]
        save(path, rows)
    portions = {name: {"1K": "100K", "3K": "1M", "5K": "3M"} for name in PORTIONS}
    for memory in ("768MB", "32MB"):
        monkeypatch.setattr(database, "MEMORY", memory)
        output = tmp_path / memory / "sentences.parquet"
        mix(base_spec(portions=portions, order="reversed"), sources, output)
        written.append({path.name: path.read_bytes() for path in output.parent.iterdir()})
    assert written[0] == written[1]
    assert sorted(written[0]) == ["sentences.parquet", "statistics.json"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"portions": {"a": {"1K": "1K", "3K": "20K", "5K": "20K"}}},
         r"source 'a' is too small: needs 20,500 words .* has 9,0\d\d, short by 11,4\d\d"),
        ({"portions": {"a": {"1K": "1K", "3K": "1K", "5K": "1K"}}, "dev_words": 7_500},
         r"needs 7,500 words \(for dev, in sentences that occur only once\)"),
        ({"portions": {"a": {"1K": "1K", "3K": 900, "5K": "2K"}}},
         r"sources: a: words: 3K has 900 words, fewer than 1K with 1,000; sizes are nested"),
        ({"portions": {"a": {"1K": "1K", "3K": "2K"}}}, r"sources: a: words: no size '5K'"),
        ({"portions": {"c": PORTIONS["a"]}}, r"no --source for 'c'; known: a, b"),
        ({"portions": {"a": {"1K": 0, "3K": 0, "5K": 9}}}, r"size 1K has no words from any source"),
    ],
)  # fmt: skip
def test_refusals(tables, tmp_path, keys, message):
    with pytest.raises(PoshgridError, match=message) as caught:
        mix(base_spec(**keys), tables, tmp_path / "out" / "sentences.parquet")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_spare_sentences_are_of_no_size(tables, mixed, tmp_path):
    """They follow the largest size in the order of their source, and change nothing else."""
    statistics = mix(base_spec(spare=0.1), tables, tmp_path / "sentences.parquet")
    frame = read_table(tmp_path / "sentences.parquet", SENTENCES)
    spare = frame.filter((pl.col("split") == "train") & (pl.col("size") == ""))
    for name, words in (("a", 300), ("b", 200)):
        mine = spare.filter(pl.col("source") == name)
        assert words - 9 <= mine["n_words"].sum() < words + 9  # a sentence has nine at most
        before = frame.filter((pl.col("source") == name) & (pl.col("size") != ""))
        assert mine["rank"].min() == before["rank"].max() + 1
        assert statistics["spare"]["sources"][name]["words"] == mine["n_words"].sum()
    rest = frame.join(spare.select("sent_id"), on="sent_id", how="anti")
    assert rest.drop("sent_id").equals(mixed[0].drop("sent_id"))
    for size in SIZES:
        assert trains(frame, size).sum() == trains(mixed[0], size).sum()


# ---- doubled or leaked text, which stops a corpus unless its check is allowed --------------------

TALK = ["what's that?", "oh.", "do you want it?", "there you go.", "no."]


def prose(seed: int, sentences: int) -> list[str]:
    """Sentences of ten words that differ, and among them some that everybody says."""
    rng = random.Random(seed)
    made = []
    for _ in range(sentences):
        made.append(" ".join(f"w{rng.randrange(5_000)}" for _ in range(10)) + ".")
        made.append(rng.choice(TALK))
    return made


def mixed_of(folder, sources: dict[str, dict[str, list[str]]], **keys):
    """Mix sources; of each, document -> sentences."""
    tables = {}
    for name, documents in sources.items():
        rows = [
            (document, position, text, len(text.split()))
            for document, texts in documents.items()
            for position, text in enumerate(texts)
        ]
        tables[name] = save(folder / f"{name}.parquet", rows)
    spec = base_spec(["1K"], {name: {"1K": 1_000} for name in sources}, dev_words=200, **keys)
    return mix(spec, tables, folder / "sentences.parquet")


@pytest.mark.parametrize("where", ["another source", "the same document"])
def test_documents_that_a_base_has_twice_stop_it(tmp_path, where):
    """Other marks, capitals and a heading make no other text of it."""
    first, second = prose(1, 300), prose(2, 300)
    copy = ["A heading that the first edition does not have at all.", *map(str.upper, first)]
    sources = {"a": {"tale": first, "note": prose(3, 20)}, "b": {"talk": second}}
    assert "allowed" not in mixed_of(tmp_path, sources)
    if where == "another source":
        sources["b"]["story"] = copy
    else:
        sources["a"]["tale"] = [*first, *copy]
    with pytest.raises(PoshgridError, match=r"source 'a'.* such as tale;.*allow: \[copies\]"):
        mixed_of(tmp_path, sources)
    assert "copies" in mixed_of(tmp_path, sources, allow=["copies", "leak"])["allowed"]


def test_dev_text_of_its_own_that_is_trained_on_stops_a_corpus(tmp_path):
    """In files or folders of their names, as publishers lay them out."""
    texts = {"train/x-0": prose(1, 300), "dev/x-0": prose(2, 100), "test-0": prose(3, 100)}
    assert "allowed" not in mixed_of(tmp_path, {"a": texts}, splits="published")
    texts["train/x-0"] = texts["dev/x-0"][:60] + texts["train/x-0"]
    with pytest.raises(PoshgridError, match=r"30 of 100 dev sentences .*allow: \[leak\]"):
        mixed_of(tmp_path, {"a": texts}, splits="published")
    allowed = mixed_of(tmp_path, {"a": texts}, splits="published", allow=["leak"])["allowed"]
    assert set(allowed) == {"leak"}
