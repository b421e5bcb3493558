"""What files of others may not do: run code, leave the results folder, fill the disk."""

from __future__ import annotations

import ast
import bz2
import gzip
import json
import re
import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

import poshgrid
from poshgrid.cli import app
from poshgrid.core.errors import PoshgridError
from poshgrid.corpora import textfile
from poshgrid.grid import configfile
from tests import forks, jobs, shipped
from tests.unit.corpora.reader_support import put, refused, source_spec

SOURCE = Path(poshgrid.__file__).parent


class Payload:
    """A pickle of this writes a file as it is read."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


# ---- code ---------------------------------------------------------------------------------------

FORBIDDEN = {
    "eval", "exec", "compile", "__import__", "pickle", "cPickle", "dill", "cloudpickle", "joblib",
    "shelve", "marshal", "torch.load", "yaml.load", "yaml.full_load", "yaml.unsafe_load",
    "os.system", "os.popen", "extractall", "unpack_archive",
}  # fmt: skip


def unsafe(text: str) -> list[str]:
    """What a module's code does that might run what it reads."""
    faults = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [getattr(node, "module", None) or "", *(a.name for a in node.names)]
            faults += [name for name in names if name.split(".")[0] in FORBIDDEN]
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        options = {k.arg: ast.unparse(k.value) for k in node.keywords}
        anyones = name.startswith("Auto") and name.endswith(".from_pretrained")
        # re.compile is no compile, and model.eval() no eval: a method with an argument would be
        if (
            name in FORBIDDEN
            or name.rpartition(".")[2] in ("extractall", "unpack_archive")
            or "True" in (options.get("shell"), options.get("trust_remote_code"))
            or (name in ("np.load", "numpy.load") and options.get("allow_pickle") != "False")
            or options.get("Loader", "yaml.SafeLoader") != "yaml.SafeLoader"
            or (anyones and options.get("trust_remote_code") != "False")
        ):
            faults.append(name)
    return faults


def test_no_module_runs_what_it_reads():
    for text in ("torch.load(f)", "import pickle", "run(x, shell=True)", "np.load(f)"):
        assert unsafe(text)
    texts = {str(path): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    assert len(texts) > 100
    assert {path: unsafe(text) for path, text in texts.items() if unsafe(text)} == {}


def test_a_parser_model_of_stanza_cannot_run_code(tmp_path):
    """Its files are pickles: Stanza reads them with weights_only, which builds tensors alone."""
    import torch

    from poshgrid.parsing.engines import stanza

    for stage in ("pos", "lemma", "depparse"):
        torch.save({"model": Payload(tmp_path / "ran"), "config": {}}, tmp_path / f"{stage}.pt")
    with pytest.raises(PoshgridError, match="not a model that Stanza"):
        stanza.load(tmp_path, stanza.Options(), "en")
    assert not (tmp_path / "ran").exists()
    torch.load(tmp_path / "pos.pt", weights_only=False)
    assert (tmp_path / "ran").exists(), "the payload works where nobody guards"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}, "only pickled weights"),
        ({"model_type": "mine", "architectures": ["MineForCausalLM"],
          "auto_map": {"AutoConfig": "mine.Config"}}, "cannot load the model"),
    ],
)  # fmt: skip
def test_neither_pickled_weights_nor_code_of_a_model_run(tmp_path, config, message):
    import torch

    from poshgrid.config import Scoring
    from poshgrid.evaluation.engines.load import load

    put(tmp_path, "config.json", json.dumps(config))
    put(tmp_path, "tokenizer.json", "{}")
    put(tmp_path, "mine.py", f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Config: pass\n")
    if "auto_map" in config:
        put(tmp_path, "model.safetensors", b"\x02\0\0\0\0\0\0\0{}")
    else:
        torch.save({"a": Payload(tmp_path / "ran")}, tmp_path / "pytorch_model.bin")
    with pytest.raises(PoshgridError, match=message):
        load(str(tmp_path), Scoring())
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "value",
    ["!!python/object/apply:os.system [touch RAN]", "!!python/module:os", "!include /etc/passwd"],
)
def test_yaml_makes_plain_values_only(tmp_path, value):
    path = put(tmp_path, "mine.yaml", f"data: {value.replace('RAN', str(tmp_path / 'ran'))}\n")
    with pytest.raises(PoshgridError, match=r"mine\.yaml:1: not YAML: could not"):
        configfile.load(path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("where", ["read", "default"])
def test_a_template_in_a_configuration_is_refused_unrun(tmp_path, root, where):
    """Also in `config/config.yaml`, which is read without a name."""
    text = shipped.TOY.read_text(encoding="utf-8")
    planted = f"__use_yte__: true\n?open({str(tmp_path / 'ran')!r}, 'w'):\n  a: b\n"
    (tmp_path / "config").mkdir()
    name = "config.yaml" if where == "default" else "mine.yaml"
    path = put(tmp_path / "config", name, planted + text)
    refusal = rf"{name}:1: __use_yte__: unknown key"
    if where == "read":
        with pytest.raises(PoshgridError, match=refusal):
            configfile.load(path)
    else:
        words = ("-m", "snakemake", "-n", "-c1", "--snakefile", root / "Snakefile")
        done = forks.python(words, tmp_path)
        assert done.returncode == 1
        assert re.search(refusal, done.stderr)
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "ran").exists()


# ---- archives -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_a_packed_bomb_is_stopped(tmp_path, monkeypatch, ending, pack):
    monkeypatch.setattr(textfile, "FREE", 100_000)  # a bomb of a megabyte is enough
    bomb = pack(b"the dog sat .\n" * 100_000)
    refused(tmp_path, "text", f"a.txt{ending}", bomb, "unpacks to more than 200 times its size")


# ---- pages --------------------------------------------------------------------------------------


ALLOWED = {  # where text becomes markup: our own CSS, scripts and figures
    "report/page.py", "report/parts.py",  # figures, and templates that escape
    "report/texts.py",  # texts, which the page escapes
    "report/export/__init__.py",  # cards, which are Markdown
}  # fmt: skip


def makes_markup(text):
    """Whether a module makes markup of what is no literal, or has templates that do not escape."""
    for call in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)):
        name = getattr(call.func, "id", getattr(call.func, "attr", None))
        if name == "Markup" and not all(isinstance(text, ast.Constant) for text in call.args):
            return True
        escaped = [key.value for key in call.keywords if key.arg == "autoescape"]
        if name == "Environment" and [getattr(flag, "value", None) for flag in escaped] != [True]:
            return True
    return False


def test_nothing_else_becomes_markup():
    assert makes_markup("Markup(f'<p>{x}</p>')") and makes_markup("jinja2.Environment()")
    assert not makes_markup("Markup('<p>{}</p>').format(x)")
    forbidden = {
        "html": r"\|\s*safe\b|autoescape false",
        "js": r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(",
    }
    for path in SOURCE.rglob("*.*"):
        if path.suffix == ".py" and str(path.relative_to(SOURCE)) not in ALLOWED:
            assert not makes_markup(path.read_text(encoding="utf-8")), path
        elif path.suffix[1:] in forbidden:
            assert not re.search(forbidden[path.suffix[1:]], path.read_text(encoding="utf-8")), path


# ---- network ------------------------------------------------------------------------------------


def test_nothing_but_fetch_asks_for_the_network(tmp_path, monkeypatch):
    asked = []

    def refused(*arguments, **_):
        asked.append(arguments[-1])
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket.socket, "connect_ex", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    put(tmp_path, "a.txt", "The dog sat.\n")
    job = jobs.text(tmp_path / "out", source_spec("text", "a.txt"), data=str(tmp_path))
    for words in (["ready", str(shipped.TOY)], ["stage", "read", job]):
        assert CliRunner().invoke(app, words).exit_code == 0
    assert asked == []


# ---- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["../out", "/etc/x", "a/b", "a\0b", "-rf", "x" * 255, "a b"])
def test_no_name_leads_out_of_the_results(word):
    for section in ("sources", "corpora", "conditions", "models", "recipes", "suites", "parsers",
                  "experiments", "regressions"):  # fmt: skip
        config = shipped.toy()
        config[section][0]["name"] = word
        with pytest.raises(PoshgridError, match=rf"{section}\[0\]\.name: "):
            configfile.validate(config)
