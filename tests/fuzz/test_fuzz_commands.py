"""Commands as nobody should type them: wrong words, wrong files, cut specs; never a traceback."""

from __future__ import annotations

import json
import shutil
import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from poshgrid.grid.arguments import SUFFIX, expanded
from poshgrid.grid.slices import Slices

from poshgrid.corpora.schema import SENTENCES, SOURCE
from poshgrid.errors import PoshgridError
from poshgrid.evidence.schema import CONDITION
from poshgrid.files import write_table
from poshgrid.grid import configfile
from tests.conftest import ROOT

from .damage import damaged
from .support import COMMAND, HOSTILE, poshgrid, promised, tried

TINY = ROOT / "config/tiny.yaml"


@cache
def specs_of_tiny() -> dict[str, str]:
    """Command -> a spec of the tiny grid."""
    grid = configfile.validate(configfile.read(TINY), [TINY])
    slices, run = Slices(grid), grid.targets["all"][0]
    return {
        # The toy grammar makes as many words as are asked for, and 10**30 take their time
        "read": slices.source("toy-baby")
        .replace('"toy"', '"text"')
        .replace(
            json.dumps(grid.sources["toy-baby"].options, sort_keys=True, separators=(",", ":")),
            "{}",
        ),
        "mix": slices.base("baby"),
        "treebank": slices.treebank("spacy").replace('"toy"', '"text"'),
        "train-parser": slices.parser("spacy"),
        "parse": slices.parse("baby", "spacy", 0),
        "evidence": slices.evidence("baby"),
        # Gold trees from the toy grammar need no file
        "recall": slices.recall("spacy").replace('"gold":["toy"]', '"gold":["train.conllu"]'),
        "condition": slices.condition("baby-f", "20K"),
        "measure-collateral": slices.collateral("baby-f", "20K"),
        "detector": slices.detector().replace('"path":"toy"', '"path":"train.conllu"'),
        "audit": slices.audit("baby-f", "20K"),
        "tokenizer": slices.tokenizer("baby"),
        "sweep": slices.sweep(),
        "train": slices.train(run),
        "count": slices.count("ngram"),
        "items": slices.items("posh").replace('"pairs":200', '"pairs":2'),
        "quality": slices.quality("all", "posh"),
        "score": slices.score(run),
        "perplexity": slices.perplexity(run),
        "accuracy": slices.judgement("exp1"),
        "curves": slices.judgement("exp1"),
        "rule-shares": slices.rule_shares("exp1"),
        "fit": slices.model("paper"),
        "measures": slices.measures("exp1", "filler-gap"),
        "deltas": slices.deltas("exp1"),
        "report": slices.report("exp1"),
    }


# What a command reads besides its spec: option -> "file", "folder", or "pair" (NAME=FILE)
READS = {
    "mix": {"source": "pair"},
    "train-parser": {"treebank": "folder"},
    "parse": {"sentences": "file", "model": "folder"},
    "evidence": {"sentences": "file", "parses": "file"},
    "recall": {"data": "folder", "model": "folder", "treebank": "folder"},
    "condition": {"sentences": "file", "evidence": "file", "beside": "file"},
    "measure-collateral": {"condition": "folder", "sentences": "file", "evidence": "file"},
    "detector": {"data": "folder"},
    "audit": {"condition": "folder", "sentences": "file", "evidence": "file",
              "detector": "folder"},
    "tokenizer": {"condition": "folder"},
    "sweep": {"condition": "folder"},
    "tokens": {"condition": "folder", "tokenizer": "folder"},
    "distances": {"condition": "folder", "tokenizer": "folder", "tokens": "folder",
                  "parses": "file"},
    "train": {"tokens": "folder", "tokenizer": "folder", "checkpoints": "folder"},
    "count": {"sentences": "file"},
    "items": {"base": "pair", "ngrams": "pairs"},
    "quality": {"items": "file", "base": "pair", "train": "pair", "scores": "pair"},
    "score": {"model": "folder", "items": "pair"},
    "perplexity": {"model": "folder", "sentences": "file"},
    "accuracy": {"scores": "folder", "items": "pair", "conditions": "folder"},
    "curves": {"scores": "folder", "models": "folder", "items": "pair"},
    "rules": {"items": "pair"},
    "rule-shares": {"scores": "folder", "models": "folder", "items": "pair", "rules": "pair"},
    "fit": {"counts": "file"},
    "deltas": {"scores": "folder", "items": "pair"},
    "measures": {"scores": "folder", "items": "file"},
    "report": {"results": "folder"},
}  # fmt: skip
NAMES = {"mix": "toy-baby", "items": "baby/20K", "quality": "baby"}
INSIDE = ["train.parquet", "dev.parquet", "test.parquet", "statistics.json", "manifest.json",
          "tokenizer.json", "tokenizer_config.json", "config.json", "model.safetensors",
          "train.bin", "dev.bin", "test.bin", "train.offsets.npy", "train.conllu",
          "dev.conllu", "test.conllu",
          "config.cfg", "meta.json"]  # fmt: skip


@cache
def tables() -> dict[str, bytes]:
    """Name -> bytes of small whole files, to be damaged or to stand where another belongs."""
    import polars as pl

    folder = Path(tempfile.mkdtemp())
    texts = [f"The dog {n} sat and will she go?" for n in range(30)]
    splits = ("train", "dev", "test")
    rows = {
        "source": (SOURCE, [("d", i, t, 8) for i, t in enumerate(texts)]),
        "sentences": (
            SENTENCES,
            [(i, "toy-baby", "d", i, t, 8, splits[i % 3], i, "20K") for i, t in enumerate(texts)],
        ),
        "condition": (
            CONDITION,
            [(i, "toy-baby", "d", i, t, 8, None) for i, t in enumerate(texts)],
        ),
    }
    found = {}
    for name, (schema, given_rows) in rows.items():
        path = folder / f"{name}.parquet"
        write_table(pl.DataFrame(given_rows, schema=schema, orient="row"), path, schema)
        found[name] = path.read_bytes()
    shutil.rmtree(folder)
    conllu = "# text = x\n1\tdog\tdog\tNOUN\tNN\t_\t2\tnsubj\t_\t_\n"
    conllu += "2\tsat\tsit\tVERB\tV\t_\t0\troot\t_\t_\n\n"
    return {
        **found,
        "json": b'{"backstop": {"train": {}}, "model_type": "gpt2", "n": [1, 2]}',
        "list": b"[1, 2]",
        "conllu": conllu.encode() * 12,
        "text": b"The dog sat.\n" * 20,
        "safetensors": (16).to_bytes(8, "little") + b'{"a":{"dtype":1}' + b"\0" * 8,
        # An array of objects: a pickle
        "npy": b"\x93NUMPY\x01\x00v\x00"
        + b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(117)
        + b"\ncos\nsystem\n(S'id'\ntR.",
    }  # fmt: skip


contents = st.one_of(
    st.none(),
    st.sampled_from(sorted(tables())).map(lambda name: tables()[name]),
    st.sampled_from(sorted(tables())).flatmap(lambda name: damaged(tables()[name], 2)),
    st.binary(max_size=30),
    st.just("folder"),
)


def lay(path: Path, content: bytes | str | None) -> Path:
    """Put a file, or a folder in its place, or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    return path


@pytest.mark.parametrize("command", sorted({*READS, "read", "treebank"}))
@tried(10)
@given(st.data())
def test_commands_with_wrong_files(tmp_path, command, data):
    """Files that are missing, of another kind, damaged, or folders."""
    here = tmp_path / "it"
    shutil.rmtree(here, ignore_errors=True)
    arguments = []
    if command in specs_of_tiny():
        arguments += ["--spec", specs_of_tiny()[command]]
    for option, kind in READS.get(command, {}).items():
        path = here / option
        if kind in {"file", "pair"}:
            lay(path, data.draw(contents))
        elif data.draw(st.booleans()):
            for name in data.draw(st.lists(st.sampled_from(INSIDE), unique=True, max_size=6)):
                lay(path / name, data.draw(contents))
        else:
            lay(path, data.draw(contents))
        name = NAMES.get(command, "posh") if kind != "file" else ""
        arguments += [f"--{option}", f"{name}={path}" if kind.startswith("pair") else path]
    if command in ("read", "treebank"):
        lay(here / "text", data.draw(contents))
        arguments += ["--data", here]
    output = here / "out" / "it"
    answer = poshgrid(command, *arguments, "--output", output)
    if answer.status:
        left = [p.name for p in (here / "out").rglob("*") if p.is_file()]
        assert not [n for n in left if n.endswith((".parquet", ".safetensors", ".html"))], left


@st.composite
def specs(draw, whole: str) -> str:
    """A spec with a value changed, a key too many or too few, or with its text cut."""
    if draw(st.integers(0, 3)) == 0:
        return draw(damaged(whole.encode(), 2)).decode("utf-8", "replace").replace("\0", "")
    spec = json.loads(whole)
    node = spec
    while isinstance(node, dict | list) and node:
        keys = sorted(node) if isinstance(node, dict) else range(len(node))
        key = draw(st.sampled_from(keys))
        inner = node[key]
        if not isinstance(inner, dict | list) or not inner or draw(st.booleans()):
            break
        node = inner
    if isinstance(node, dict | list) and node:
        value = draw(st.one_of(
            st.sampled_from(HOSTILE), st.none(), st.booleans(), st.just([]), st.just({}),
            st.sampled_from([0, -1, 10**30, 0.5, float("inf"), float("nan")]),
        ))  # fmt: skip
        change = draw(st.sampled_from(["set", "delete", "add"]))
        if change == "delete":
            del node[key]
        elif change == "add" and isinstance(node, dict):
            node[draw(st.sampled_from(HOSTILE))] = value
        else:
            node[key] = value
    return json.dumps(spec).replace("\\u0000", "")


@pytest.mark.parametrize("command", sorted(specs_of_tiny()))
@tried(12)
@given(st.data())
def test_commands_with_wrong_specs(tmp_path, command, data):
    """A spec that no configuration makes, with files that are not there."""
    spec = data.draw(specs(specs_of_tiny()[command]))
    arguments = ["--spec", spec]
    for option, kind in READS.get(command, {}).items():
        path = tmp_path / "none" / option
        arguments += [f"--{option}", f"posh={path}" if kind.startswith("pair") else path]
    if command in ("read", "treebank"):
        arguments += ["--data", tmp_path / "none"]
    answer = poshgrid(command, *arguments, "--output", tmp_path / "out" / "it")
    assert answer.status or command in ("read", "treebank", "items", "deltas", "curves", "report")


words = st.one_of(st.sampled_from([w.replace("\0", "") for w in HOSTILE]), st.text(max_size=30))


@tried(30)
@given(st.data())
def test_words_for_people(tmp_path, data):
    """Options that take a word: it is known, or there is a line that says what is known."""
    word = data.draw(words).replace("\0", "").encode("utf-8", "replace").decode()
    axis = data.draw(st.sampled_from(["size", "seed", "condition", "x", ""]))
    command = data.draw(st.sampled_from([
        ["runs", TINY, "--target", word],
        ["runs", TINY, "--only", word],
        ["runs", TINY, "--only", f"{axis}={word}"],
        ["runs", f"{tmp_path}/{word}"],
        ["ready", TINY, f"{tmp_path}/{word}"],
        ["ready", f"{tmp_path}/{word}"],
        ["fetch", f"x{word}", "--data", tmp_path],
        ["fetch", "no-such-source", "--folder", word, "--data", tmp_path],
        ["results", TINY, "--results", tmp_path, "--target", word],
        ["results", TINY, "--results", tmp_path, "--level", word],
        ["results", TINY, "--results", tmp_path, "--table", word],
        ["results", TINY, "--results", tmp_path, "--fit", word],
        ["results", TINY, "--results", tmp_path, "--only", f"{axis}={word}"],
        ["explain", f"{word}.conllu", "--config", TINY],
        ["explain", "The dog sat.", "--config", TINY, "--parser", word],
        ["explain", "The dog sat.", "--config", TINY, "--filter", word],
        ["explain", word, "--config", TINY, "--parser", "spacy"],
        ["coverage", TINY, "--results", tmp_path, "--suite", word],
        ["coverage", TINY, "--results", tmp_path, "--filters", word],
        ["coverage", TINY, "--results", tmp_path, "--filters", f"passive.{word},{axis}"],
        ["coverage", TINY, "--results", tmp_path, "--parser", word],
        ["explain", "--config", TINY, "--base", word],
        ["explain", "--config", TINY, "--text", f"{tmp_path}/{word}"],
        ["explain", "--config", TINY, "--sample", word],
        ["items", "--show", 3, "--output", f"{tmp_path}/{word}"],
        ["leak-rate", f"{tmp_path}/{word}"],
        [word],
        ["ready", TINY, f"--{word}"],
    ]))  # fmt: skip
    poshgrid(*command)
    assert not list(tmp_path.iterdir()), "nothing is written"


# They ask a cluster, and two of their options cancel jobs
NOT_HERE = {"doctor", "init", "run"}  # init makes any folder; run is Snakemake
# Nothing that leads out of the folder in which the test runs
NONSENSE = [w for w in HOSTILE if w and "\0" not in w and ".." not in w and w[0] not in "/~"]
nonsense = st.sampled_from([
    *(w.encode("utf-8", "replace").decode() for w in NONSENSE if w != "--help"),
    "-1", "0", "1e999", "nan", "{}", "[]", "null", '{"a": 1}', "a=b", "=", "a=", "=b", "-", "--",
    "-x", "--no-such-option", "--spec", "--output", "@none", "@",
])  # fmt: skip


@pytest.mark.parametrize("command", sorted(set(COMMAND.commands) - NOT_HERE))
@tried(20)
@given(st.data())
def test_commands_with_nonsense(tmp_path, monkeypatch, command, data):
    """Every command with options of its own and others, each given nonsense, none, or given twice.

    The files are not there, so that nothing can come of it: not a status of zero, not a file.
    """
    here = tmp_path / "here"
    here.mkdir(exist_ok=True)
    monkeypatch.chdir(here)
    known = [each for each in COMMAND.commands[command].params if each.name != "help"]
    asked = [each for each in known if each.required and data.draw(st.integers(0, 4))]
    asked += data.draw(st.lists(st.sampled_from(known), max_size=3))
    given_words: list[str] = []
    for each in asked:
        named = [each.opts[0]] if each.opts[0].startswith("-") else []
        flag = getattr(each, "is_flag", False)
        given_words += [*named, *([] if flag else [data.draw(nonsense)])]
    given_words += data.draw(st.lists(nonsense, max_size=2))
    answer = poshgrid(command, *given_words)
    assert answer.status or command == "schema", answer.output
    if answer.status:
        assert not list(here.iterdir()), [p.name for p in here.iterdir()]
    shutil.rmtree(here)


@pytest.mark.parametrize("command", sorted(specs_of_tiny()))
def test_the_folder_that_has_no_name(tmp_path, monkeypatch, command):
    """``.`` for each option that a command must have; then for all files, ``name=.`` for pairs."""
    monkeypatch.chdir(tmp_path)
    known = [each for each in COMMAND.commands[command].params if each.name != "spec"]
    reads = READS.get(command, {})
    needed, more = ["--spec", specs_of_tiny()[command]], []
    for each in known:
        pair = reads.get(each.name, "").startswith("pair")
        asked = needed if each.required else more if each.name in reads else []
        asked += [each.opts[0], "a=." if pair else "."]
    poshgrid(command, *needed)
    poshgrid(command, *needed, *more)


@tried(20)
@given(st.lists(nonsense, max_size=3), contents)
def test_files_of_arguments(tmp_path, given_words, content):
    """``@FILE`` stands for what a file holds: for a shell, a grid's arguments are too long."""
    path = lay(tmp_path / "it" / f"given{SUFFIX}", content)
    try:
        found = expanded([*given_words, f"@{path}"])
    except PoshgridError as error:
        assert str(path) in promised(error)[0]
    else:
        lines = content.decode().split("\n")  # a path may hold other ends of lines
        assert found == [*given_words, *(lines[:-1] if not lines[-1] else lines)]
    shutil.rmtree(tmp_path / "it")


@tried(20)
@given(st.data())
def test_damaged_trees(tmp_path, data):
    """CoNLL-U on the command line."""
    path = tmp_path / "a.conllu"
    path.write_bytes(data.draw(damaged(tables()["conllu"][:120], 3)))
    answer = poshgrid("explain", path, "--config", TINY)
    assert all(str(path) in line for line in answer.lines)


SHEET = "number,sent_id,source,document,text,words,label,note\n1,7,s,d,Who sat?,who,yes,\n"
SHEET += "2,9,s,d,The dog.,dog,no,ok\n"


@tried(20)
@given(st.data())
def test_damaged_sheets(tmp_path, data):
    """A sheet that a spreadsheet program has written back."""
    path = tmp_path / "binding.leakage.csv"
    path.write_bytes(data.draw(damaged(SHEET.encode(), 3)))
    answer = poshgrid("leak-rate", path)
    assert all("binding.leakage.csv" in line for line in answer.lines)
