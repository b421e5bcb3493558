"""Parsers that are trained, loaded and run; parsing a shard of a base."""

from __future__ import annotations

import json
from types import SimpleNamespace

import polars as pl
import pytest

from poshgrid import plugins
from poshgrid.config import Parser, Treebank, specs
from poshgrid.config.runs import SPLITS
from poshgrid.corpora.schema import SENTENCES
from poshgrid.errors import PoshgridError
from poshgrid.evidence.screening.screen import screen
from poshgrid.files import read_table, write_table
from poshgrid.parsing import parse as parsing
from poshgrid.parsing import treebank
from poshgrid.parsing.labels import foreign
from poshgrid.parsing.schema import PARSES
from poshgrid.parsing.train import train
from poshgrid.parsing.tree import Tree
from poshgrid.parsing.words import tokenize

SPACY = {"steps": 30, "evaluate_every": 30, "batch_words": 300, "width": 48, "depth": 2,
         "learning_rate": 0.005}  # fmt: skip
STANZA = {"tagger_steps": 40, "parser_steps": 20, "tagger_batch": 20, "tagger_width": 40,
          "parser_batch": 200, "parser_width": 50, "parser_layers": 1, "character_width": 20,
          "evaluations": 1}  # fmt: skip


def parser(engine, options):
    return Parser(name=engine, engine=engine, treebank=Treebank(path="toy"), options=options)


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gold")
    bank = Treebank(path="toy", sentences=200)
    treebank.prepare(specs.TreebankSpec(treebank=bank), folder, folder)
    return folder


def train_twice(engine, options, gold, folder):
    spec = specs.ParserSpec(parser=parser(engine, options))
    facts = [train(spec, gold, folder / name) for name in "ab"]
    for each in facts:
        del each["training_seconds"]
    loaded = [
        plugins.load(parsing.ENGINES, engine).load(
            folder / name, plugins.options(parsing.ENGINES, engine, options)
        )
        for name in "ab"
    ]
    words = [list(tree.form) for tree in treebank.trees(gold / "test.conllu")]
    return facts, loaded, words


def check(facts, loaded, words, folder):
    """What both engines owe: seeded training, real learning, trees over the given words."""
    assert facts[0] == facts[1] == json.loads((folder / "a/evaluation.json").read_text())
    assert facts[0]["las"] > 0.3 and facts[0]["upos"] > 0.3
    first, second = (each.parse(words) for each in loaded)
    assert first == second
    assert [tree.form for tree in first] == words
    for tree in first:
        assert all(0 <= head <= len(tree) for head in tree.head) and 0 in tree.head
        assert all(len(list(tree.ancestors(w))) < len(tree) for w in range(1, len(tree) + 1))
        assert [rel == "root" for rel in tree.deprel] == [head == 0 for head in tree.head]
    assert {"nsubj", "acl:relcl", "root"} <= loaded[0].labels
    assert foreign(loaded[0].labels) == []
    assert {label for tree in first for label in tree.deprel} <= {*loaded[0].labels, "dep"}
    assert loaded[0].parse([]) == []
    unseen = [["Zyx", "!!", "qqq"], ["x"]]
    assert [tree.form for tree in loaded[0].parse(unseen)] == unseen


def test_spacy(gold, tmp_path):
    check(*train_twice("spacy", SPACY, gold, tmp_path), tmp_path)
    # an installed package's folder holds the pipeline in a folder of its own
    (tmp_path / "package").mkdir()
    (tmp_path / "a").rename(tmp_path / "package" / "en_toy-1.0")
    assert load("spacy", tmp_path / "package").parse([["Hello"]])


@pytest.mark.slow
def test_stanza(gold, tmp_path):
    check(*train_twice("stanza", STANZA, gold, tmp_path), tmp_path)
    model = tmp_path / "a"
    # one language of a download, found by its folders
    download = tmp_path / "resources" / "en"
    for stage in ("pos", "lemma", "depparse"):
        (download / stage).mkdir(parents=True)
        (model / f"{stage}.pt").rename(download / stage / "toy_nocharlm.pt")
    one = load("stanza", download).parse([["Is", "the", "boy", "here", "?"]])
    # the whole download, with its list of models
    packages = {stage: {"toy_nocharlm": {"md5": ""}} for stage in ("pos", "lemma", "depparse")}
    default = dict.fromkeys(packages, "toy_nocharlm")
    listing = {
        "en": {
            **packages,
            "tokenize": {"toy": {"md5": ""}},
            "default_processors": {"tokenize": "toy", **default},
            "default_dependencies": {},
            "packages": {"default": {"tokenize": "toy", **default}},
        }
    }
    (tmp_path / "resources" / "resources.json").write_text(json.dumps(listing))
    assert load("stanza", tmp_path / "resources").parse([["Is", "the", "boy", "here", "?"]]) == one
    (download / "pos" / "other.pt").write_bytes(b"")
    with pytest.raises(PoshgridError, match=r"found: other\.pt, toy_nocharlm\.pt"):
        load("stanza", download)


def without_features(source, target, lose):
    """Copy a treebank; the sentences of which ``lose`` says so lose their features."""
    target.mkdir()
    for split in SPLITS:
        blocks = (source / f"{split}.conllu").read_text().strip().split("\n\n")
        rows = [[line.split("\t") for line in block.split("\n")] for block in blocks]
        for block in rows:
            lost = lose([row[1] for row in block if len(row) > 1])
            for row in block:
                if len(row) > 1 and lost:
                    row[5] = "_"
        text = "\n\n".join("\n".join(map("\t".join, block)) for block in rows)
        (target / f"{split}.conllu").write_text(text + "\n\n")
    return target


def check_features(engine, options, gold, folder):
    """Features are learned from the trees that bear them, and given to all words alike."""
    halved = without_features(gold, folder / "halved", lambda words: "?" in words)
    train(specs.ParserSpec(parser=parser(engine, options)), halved, folder / "model")
    truth = treebank.trees(gold / "train.conllu")
    loaded = plugins.load(parsing.ENGINES, engine).load(
        folder / "model", plugins.options(parsing.ENGINES, engine, options)
    )
    found = loaded.parse([list(tree.form) for tree in truth])
    for question in (True, False):  # questions had none in training
        pairs = [
            (a, b)
            for one, two in zip(truth, found, strict=True)
            if ("?" in one.form) is question
            for a, b in zip(one.feats, two.feats, strict=True)
            if a != "_"
        ]
        assert len(pairs) > 200
        assert sum(a == b for a, b in pairs) / len(pairs) > 0.6


@pytest.mark.slow
def test_spacy_learns_features_from_the_trees_that_have_them(gold, tmp_path):
    check_features("spacy", {**SPACY, "steps": 120}, gold, tmp_path)


@pytest.mark.slow
def test_stanza_learns_features_from_the_trees_that_have_them(gold, tmp_path):
    check_features("stanza", {**STANZA, "tagger_steps": 80}, gold, tmp_path)


def test_spacy_without_any_features(gold, tmp_path):
    bare = without_features(gold, tmp_path / "bare", lambda words: True)
    spec = specs.ParserSpec(parser=parser("spacy", {**SPACY, "steps": 5}))
    train(spec, bare, tmp_path / "out")
    (tree,) = load("spacy", tmp_path / "out").parse([["Dogs", "bark"]])
    assert tree.feats == ["_", "_"] and tree.upos != ["X", "X"]


def load(engine, folder):
    return plugins.load(parsing.ENGINES, engine).load(
        folder, plugins.options(parsing.ENGINES, engine, {})
    )


@pytest.mark.parametrize("engine", ["spacy", "stanza"])
def test_bad_models_are_named(tmp_path, engine):
    with pytest.raises(PoshgridError, match=r"check parsers\.model"):
        load(engine, tmp_path)
    for name in ("config.cfg", "pos.pt", "lemma.pt", "depparse.pt"):
        (tmp_path / name).write_text("[nlp]\nno = \n")
    with pytest.raises(PoshgridError, match=f"{tmp_path}: not a ") as caught:
        load(engine, tmp_path)
    assert "\n" not in str(caught.value)


def test_spacy_pipeline_without_a_parser(tmp_path):
    import spacy

    spacy.blank("en").to_disk(tmp_path)
    with pytest.raises(PoshgridError, match="no parser or no parts of speech"):
        load("spacy", tmp_path)


TEXTS = ["Don't you wanna go?", "yeah", " ", "I see it.", "yeah", "Where's daddy's hat?", "yeah"]


@pytest.fixture
def base(tmp_path):
    n = len(TEXTS)
    frame = pl.DataFrame(
        {
            "sent_id": range(n), "source": ["s"] * n, "document": ["d"] * n, "position": range(n),
            "text": TEXTS, "n_words": [len(t.split()) for t in TEXTS], "split": ["train"] * n,
            "rank": range(n), "size": ["1K"] * n,
        },
        schema=SENTENCES,
    )  # fmt: skip
    write_table(frame, tmp_path / "sentences.parquet", SENTENCES)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "file").touch()
    return tmp_path


@pytest.fixture
def chain(monkeypatch):
    """An engine whose trees are chains; it records what it was asked."""
    asked = []

    def parse(sentences):
        asked.append(sentences)
        return [
            Tree(s, ["X"] * len(s), ["_"] * len(s), range(len(s)), ["dep"] * len(s))
            for s in sentences
        ]

    engine = SimpleNamespace(load=lambda model, options: SimpleNamespace(parse=parse))
    load = plugins.load

    def loaded(package, word):
        return engine if package == parsing.ENGINES else load(package, word)

    monkeypatch.setattr(parsing.plugins, "load", loaded)
    monkeypatch.setattr(parsing.plugins, "options", lambda *arguments: None)
    return asked


def shard(number, of):
    return specs.ParseSpec(parser=parser("spacy", {}), shard=number, shards=of)


@pytest.mark.parametrize("shards", [1, 2, 3, 9])
def test_shards_make_the_base(base, chain, shards):
    parts = []
    for number in range(shards):
        path = base / f"{number}.parquet"
        parsing.parse(shard(number, shards), base / "sentences.parquet", base / "model", path)
        parts.append(read_table(path, PARSES))
    table = pl.concat(parts)
    assert table["sent_id"].to_list() == list(range(len(TEXTS)))
    assert table["form"].to_list() == [tokenize(text) for text in TEXTS]
    assert table["head"].list.len().to_list() == [len(tokenize(text)) for text in TEXTS]


def test_parsed_once_in_order_of_length_and_never_empty(base, chain):
    facts = parsing.parse(
        shard(0, 1), base / "sentences.parquet", base / "model", base / "0.parquet"
    )
    lengths = [len(words) for words in chain[0]]
    assert len(chain) == 1 and lengths == sorted(lengths) and min(lengths) == 1
    assert facts["sentences"] == 7 and facts["parsed"] == 4


def test_what_lacks_the_words_of_every_filter_is_not_parsed(base, chain):
    texts = [
        "Is the boy who left here ?",
        "I like it .",
        "She saw Tom hurt himself .",
        "I like it .",
    ]
    frame = read_table(base / "sentences.parquet", SENTENCES).head(4)
    frame = frame.with_columns(text=pl.Series(texts))
    write_table(frame, base / "sentences.parquet", SENTENCES)
    given = shard(0, 1).model_copy(update={"screens": ["binding", "question-formation"]})
    files = (base / "sentences.parquet", base / "model", base / "0.parquet")
    facts = parsing.parse(given, *files, screen(given.screens))
    table = read_table(base / "0.parquet", PARSES)
    assert table["form"].to_list() == [texts[0].split(), [], texts[2].split(), []]
    assert [len(part) for part in chain] == [2]
    assert (facts["distinct_texts"], facts["parsed"], facts["parsed_sentences"]) == (3, 2, 2)
    assert facts["parsed_words"] == 13


def test_words_alone_make_flat_trees():
    from poshgrid.parsing.engines import words as engine

    flat_parser = engine.load(None, engine.Options())
    assert flat_parser.labels is None
    (flat,) = flat_parser.parse([["a", "b", "c"]])
    assert (flat.head, flat.deprel) == ([0, 1, 1], ["root", "dep", "dep"])
    with pytest.raises(PoshgridError, match="learns nothing"):
        engine.train(None, None, engine.Options())


def test_faults_of_parsing_are_named(base, chain):
    out = base / "out.parquet"
    with pytest.raises(PoshgridError, match=r"absent: no model .*its treebank.*parsers\[\].model"):
        parsing.parse(shard(0, 1), base / "sentences.parquet", base / "absent", out)
    with pytest.raises(PoshgridError, match="shard 3 of 2"):
        parsing.parse(shard(3, 2), base / "sentences.parquet", base / "model", out)
    assert not out.exists()
