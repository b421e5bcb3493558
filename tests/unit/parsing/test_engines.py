"""Parsers that are trained, loaded and run; parsing a shard of a corpus."""

import json
from types import SimpleNamespace

import polars as pl
import pytest

from poshgrid.config import Parser, Treebank, specs
from poshgrid.config.runs import SPLITS
from poshgrid.core import plugins
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import read_table
from poshgrid.parsing import parse as parsing
from poshgrid.parsing import treebank
from poshgrid.parsing.evaluate import evaluate
from poshgrid.parsing.schema import PARSES
from poshgrid.parsing.tokenize import tokenize
from poshgrid.parsing.train import train
from poshgrid.parsing.tree import RELATIONS, Tree
from tests.unit.models.training.training_support import write_sentences

OPTIONS = {
    "steps": 30,
    "evaluate_every": 30,
    "batch_words": 300,
    "width": 48,
    "learning_rate": 0.005,
}


def parser(engine="spacy", **options):
    options = {**OPTIONS, **options}
    return Parser(name=engine, engine=engine, treebank=Treebank(path="toy"), options=options)


def load(engine, folder):
    options = plugins.options(plugins.ENGINES, engine, {})
    return plugins.load(plugins.ENGINES, engine).load(folder, options, "en")


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gold")
    bank = Treebank(path="toy", sentences=200)
    treebank.prepare(specs.TreebankSpec(treebank=bank), folder, folder)
    return folder


def check(trees, words):
    """Check that trees are whole: words have heads, one is the root, none is its own ancestor."""
    assert [tree.form for tree in trees] == words
    for tree in trees:
        assert all(0 <= head <= len(tree) for head in tree.head) and 0 in tree.head
        assert all(len(list(tree.ancestors(w))) < len(tree) for w in range(1, len(tree) + 1))
        assert [rel == "root" for rel in tree.deprel] == [head == 0 for head in tree.head]
    assert {rel.partition(":")[0] for tree in trees for rel in tree.deprel} <= RELATIONS


def check_odd_input(parser):
    assert parser.parse([]) == []
    unseen = [["Zyx", "!!", "qqq"], ["x"]]
    assert [tree.form for tree in parser.parse(unseen)] == unseen


def test_a_parser_is_trained_alike_twice_and_has_learned(gold, tmp_path):
    facts = [train(specs.ParserSpec(parser=parser()), gold, tmp_path / name) for name in "ab"]
    assert facts[0] == facts[1] == json.loads((tmp_path / "a/evaluation.json").read_text())
    assert facts[0]["las"] > 0.3 and facts[0]["upos"] > 0.3
    words = [list(tree.form) for tree in treebank.trees(gold / "test.conllu")]
    one, other = (load("spacy", tmp_path / name) for name in "ab")
    trees = one.parse(words)
    assert trees == other.parse(words)
    check(trees, words)
    check_odd_input(one)


@pytest.mark.slow
def test_a_model_of_stanza_is_loaded(gold, tmp_path):
    """As files, and as a download: models that Stanza's own commands have made."""
    stanza_models(gold, tmp_path / "a")
    truth = treebank.trees(gold / "test.conllu")
    words = [list(tree.form) for tree in truth]
    parser = load("stanza", tmp_path / "a")
    trees = parser.parse(words)
    check(trees, words)
    check_odd_input(parser)
    assert evaluate(truth, trees)["las"] > 0.3
    assert load("stanza", as_downloaded(tmp_path)).parse(words) == trees


def stanza_models(gold, folder):
    from stanza.models import lemmatizer, parser, tagger

    small = ["--lang=en", "--no_pretrain", "--char_hidden_dim=20", "--word_cutoff=2"]
    tags = ["--max_steps=40", "--eval_interval=40", "--batch_size=20", "--hidden_dim=40"]
    trees = ["--max_steps=20", "--eval_interval=20", "--batch_size=200", "--hidden_dim=50",
             "--num_layers=1", "--no_upos", "--no_xpos", "--no_ufeats", "--optim=adam",
             "--lr=0.002", "--second_optim_start_step=1000"]  # fmt: skip
    for stage, main, options in (("pos", tagger.main, [*small, *tags]),
                                 ("lemma", lemmatizer.main, ["--dict_only"]),
                                 ("depparse", parser.main, [*small, *trees])):  # fmt: skip
        main(["--mode=train", "--cpu", "--shorthand=en_toy", f"--save_dir={folder}",
              f"--save_name={stage}.pt", f"--train_file={gold / 'train.conllu'}",
              f"--eval_file={gold / 'dev.conllu'}", *options])  # fmt: skip


def as_downloaded(folder):
    """Return the folder of a download of Stanza with the models of ``a``, and its list of them."""
    models = {"pos": "toy_nocharlm", "lemma": "toy_nocharlm", "depparse": "toy_nocharlm"}
    for stage, name in models.items():
        file = folder / "resources" / "en" / stage / f"{name}.pt"
        file.parent.mkdir(parents=True)
        (folder / "a" / f"{stage}.pt").rename(file)
    default = {"tokenize": "toy", **models}
    listing = {stage: {name: {"md5": ""}} for stage, name in default.items()}
    listing |= {"default_processors": default, "default_dependencies": {},
                "packages": {"default": default}}  # fmt: skip
    (folder / "resources" / "resources.json").write_text(json.dumps({"en": listing}))
    return folder / "resources"


def without_features(source, target):
    """Copy a treebank; its questions lose their features."""
    target.mkdir()
    for split in SPLITS:
        lines = []
        for words in treebank.read(source / f"{split}.conllu"):
            question = "?" in [word[1] for word in words]
            for word in words:
                feats = "_" if question else word[5]
                lines.append("\t".join([*word[:5], feats, *word[6:], "_", "_"]))
            lines.append("")
        (target / f"{split}.conllu").write_text("\n".join(lines) + "\n")
    return target


@pytest.mark.slow
def test_features_are_learned_from_the_trees_that_have_them(gold, tmp_path):
    """Questions have none in training, and are given theirs all the same."""
    halved = without_features(gold, tmp_path / "halved")
    train(specs.ParserSpec(parser=parser(steps=120)), halved, tmp_path / "model")
    truth = treebank.trees(gold / "train.conllu")
    parsed = load("spacy", tmp_path / "model").parse([list(t.form) for t in truth])
    for question in (True, False):
        pairs = [
            (a, b)
            for one, two in zip(truth, parsed, strict=True)
            if ("?" in one.form) is question
            for a, b in zip(one.feats, two.feats, strict=True)
            if a != "_"
        ]
        assert len(pairs) > 200
        assert sum(a == b for a, b in pairs) / len(pairs) > 0.6


@pytest.mark.parametrize("engine", ["spacy", "stanza"])
def test_bad_models_are_named(tmp_path, engine):
    with pytest.raises(PoshgridError, match=r"check parsers\.model"):
        load(engine, tmp_path)
    for name in ("config.cfg", "pos.pt", "lemma.pt", "depparse.pt"):
        (tmp_path / name).write_text("[nlp]\nno = \n")
    with pytest.raises(PoshgridError, match=f"{tmp_path}: not a ") as caught:
        load(engine, tmp_path)
    assert "\n" not in str(caught.value)


# ---- parsing a corpus ---------------------------------------------------------------------------


def write_base(folder, texts):
    """A corpus's table, and a folder that is not empty for the model."""
    write_sentences(folder / "sentences.parquet", [(text, "train", "1K") for text in texts])
    (folder / "model").mkdir()
    (folder / "model" / "file").touch()
    return folder


TEXTS = ["Don't you wanna go?", "yeah", " ", "I see it.", "yeah", "Where's daddy's hat?", "yeah"]


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

    engine = plugins.load(plugins.ENGINES, "spacy")
    monkeypatch.setattr(engine, "load", lambda *arguments: SimpleNamespace(parse=parse))
    return asked


def shard(number, of):
    return specs.ParseSpec(parser=parser("spacy"), shard=number, shards=of)


def parse(corpus, spec, name="0.parquet", model="model"):
    files = (corpus / "sentences.parquet", corpus / model, corpus / name)
    facts = parsing.parse(spec, *files)
    return facts, read_table(corpus / name, PARSES)


@pytest.mark.parametrize("shards", [1, 3, 9])
def test_shards_make_the_base(tmp_path, chain, shards):
    corpus = write_base(tmp_path, TEXTS)
    table = pl.concat(
        parse(corpus, shard(number, shards), f"{number}.parquet")[1] for number in range(shards)
    )
    assert table["sent_id"].to_list() == list(range(len(TEXTS)))
    assert table["form"].to_list() == [tokenize(text, "en") for text in TEXTS]
    assert table["head"].list.len().to_list() == [len(tokenize(text, "en")) for text in TEXTS]


def test_parsed_once_in_order_of_length_and_never_empty(tmp_path, chain):
    facts, _ = parse(write_base(tmp_path, TEXTS), shard(0, 1))
    lengths = [len(words) for words in chain[0]]
    assert len(chain) == 1 and lengths == sorted(lengths) and min(lengths) == 1
    assert facts["sentences"] == 7 and facts["parsed"] == 4


def test_words_alone_make_flat_trees():
    (flat,) = load("words", None).parse([["a", "b", "c"]])
    assert (flat.head, flat.deprel) == ([0, 1, 1], ["root", "dep", "dep"])


def test_faults_of_parsing_are_named(tmp_path, chain):
    corpus = write_base(tmp_path, TEXTS)
    with pytest.raises(PoshgridError, match=r"absent: no model .*its treebank.*parsers\[\].model"):
        parse(corpus, shard(0, 1), model="absent")
    assert not (corpus / "0.parquet").exists()
