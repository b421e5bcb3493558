"""What files of others may not do: run code, leave the results folder, fill the disk."""

from __future__ import annotations

import ast
import bz2
import gzip
import json
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import poshgrid
from poshgrid.corpora import textfile
from poshgrid.errors import PoshgridError
from poshgrid.grid import configfile
from tests import jobs
from tests.unit.corpora.reader_support import put, refused, source_spec

SOURCE = Path(poshgrid.__file__).parent
PLANTED = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"


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


def calls(tree: ast.AST):
    """Every call of a module: its dotted name and the node."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def unsafe(text: str) -> list[str]:
    """What a module's code does that might run what it reads."""
    tree, found = ast.parse(text), []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [getattr(node, "module", None) or "", *(a.name for a in node.names)]
            found += [n for n in names if n.split(".")[0] in FORBIDDEN]
    for name, node in calls(tree):
        given = {k.arg: ast.unparse(k.value) for k in node.keywords}
        # re.compile is no compile, and model.eval() no eval: a method with an argument would be
        if name in FORBIDDEN or name.rpartition(".")[2] in ("extractall", "unpack_archive"):
            found.append(name)
        if given.get("shell") == "True" or given.get("trust_remote_code") == "True":
            found.append(f"{name}(shell or trust_remote_code)")
        if name in ("np.load", "numpy.load") and given.get("allow_pickle") != "False":
            found.append(name)
        if name == "yaml.Loader" or given.get("Loader", "yaml.SafeLoader") != "yaml.SafeLoader":
            found.append(f"{name}(Loader)")
        anyones = name.startswith("Auto") and name.endswith(".from_pretrained")
        if anyones and given.get("trust_remote_code") != "False":
            found.append(name)
    return found


@pytest.mark.parametrize(
    "text",
    [
        "eval(x)", "import pickle", "from pickle import loads", "torch.load(f)", "yaml.load(f)",
        "np.load(f)", "np.load(f, allow_pickle=True)", "subprocess.run(x, shell=True)",
        "z.extractall()", "AutoModel.from_pretrained(x)",
        "A.from_pretrained(x, trust_remote_code=True)", "yaml.compose(t, Loader=yaml.Loader)",
    ],
)  # fmt: skip
def test_what_runs_code_is_found(text):
    assert unsafe(text)
    assert not unsafe("re.compile(x)\nmodel.eval()\nnp.load(f, allow_pickle=False)\n")


def test_no_module_runs_what_it_reads():
    found = {str(p): unsafe(p.read_text(encoding="utf-8")) for p in SOURCE.rglob("*.py")}
    assert len(found) > 100
    assert {path: what for path, what in found.items() if what} == {}


def test_no_rule_runs_python_of_its_own_on_what_it_reads(root):
    for path in [root / "Snakefile", *(root / "workflow/rules").glob("*.smk")]:
        text = re.sub(r'""".*?"""|#.*', "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.search(r"\b(eval|exec|pickle|torch\.load|yaml\.load|os\.system)\b", text), (
            path
        )


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


def test_a_learner_with_pickled_weights_is_refused(tmp_path):
    import torch

    from poshgrid.config import Scoring
    from poshgrid.evaluation.engines.load import load

    put(tmp_path, "config.json", '{"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}')
    put(tmp_path, "tokenizer.json", "{}")
    torch.save({"a": Payload(tmp_path / "ran")}, tmp_path / "pytorch_model.bin")
    with pytest.raises(PoshgridError, match="only pickled weights"):
        load(str(tmp_path), Scoring())
    assert not (tmp_path / "ran").exists()


def test_code_that_comes_with_a_model_is_not_run(tmp_path):
    from poshgrid.config import Scoring
    from poshgrid.evaluation.engines.load import load

    own = {"AutoConfig": "mine.Config", "AutoModelForCausalLM": "mine.Model"}
    kind = {"model_type": "mine", "architectures": ["MineForCausalLM"], "auto_map": own}
    put(tmp_path, "config.json", json.dumps(kind))
    put(tmp_path, "mine.py", f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Config: pass\n")
    put(tmp_path, "tokenizer.json", "{}")
    put(tmp_path, "model.safetensors", b"\x02\0\0\0\0\0\0\0{}")
    with pytest.raises(PoshgridError, match="cannot load the model"):
        load(str(tmp_path), Scoring())
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "value",
    ["!!python/object/apply:os.system [touch RAN]", "!!python/object/new:os.system [touch RAN]",
     "!!python/name:os.system", "!!python/module:os", "!include /etc/passwd"],
)  # fmt: skip
def test_yaml_makes_plain_values_only(tmp_path, value):
    path = put(tmp_path, "mine.yaml", f"data: {value.replace('RAN', str(tmp_path / 'ran'))}\n")
    with pytest.raises(PoshgridError, match=r"mine\.yaml:1: not YAML: could not"):
        configfile.load(path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("place", ["read", "profile", "default"])
def test_a_template_in_a_configuration_is_refused_unrun(tmp_path, root, place):
    """Also one that a profile names, and `config/config.yaml`, which is read without a name."""
    text = (root / "studies/posh-bench/toy.yaml").read_text(encoding="utf-8")
    planted = f"__use_yte__: true\n?open({str(tmp_path / 'ran')!r}, 'w'):\n  a: b\n"
    (tmp_path / "config").mkdir()
    name = "config.yaml" if place == "default" else "mine.yaml"
    path = put(tmp_path / "config", name, planted + text)
    refusal = rf"{name}:1: __use_yte__: unknown key"
    if place == "read":
        with pytest.raises(PoshgridError, match=refusal):
            configfile.load(path)
    else:
        profile = put(tmp_path, "profile.yaml", f"configfile: [{path}]\n")
        words = ["poshgrid.planning.launch", "--workflow-profile", profile]
        done = subprocess.run(
            [sys.executable, "-m", *(words if place == "profile" else ["snakemake"]), "-n", "-c1",
             "--snakefile", root / "Snakefile", "--directory", tmp_path],
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 1
        assert re.search(refusal, done.stderr)
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "ran").exists()


# ---- archives -----------------------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch):
    """A bomb of a megabyte is enough."""
    monkeypatch.setattr(textfile, "FREE", 100_000)


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress)])
def test_a_packed_bomb_is_stopped(tmp_path, small, ending, pack):
    bomb = pack(b"the dog sat .\n" * 100_000)
    refused(tmp_path, "text", f"a.txt{ending}", bomb, "unpacks to more than 200 times its size")


# ---- pages --------------------------------------------------------------------------------------


ALLOWED = {  # where text becomes markup: our own CSS, scripts and figures
    "report/page.py", "report/parts.py",  # figures, and templates that escape
    "report/texts.py",  # texts, which the page escapes
    "export/__init__.py",  # cards, which are Markdown
    "report/references.py",  # our own bibliography, which pybtex escapes
}  # fmt: skip


def makes_markup(text):
    """Whether a module makes markup of what is no literal, or has templates that do not escape."""
    for call in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)):
        name = getattr(call.func, "id", getattr(call.func, "attr", None))
        if name == "Markup" and not all(isinstance(each, ast.Constant) for each in call.args):
            return True
        escaped = [each.value for each in call.keywords if each.arg == "autoescape"]
        if name == "Environment" and [getattr(each, "value", None) for each in escaped] != [True]:
            return True
    return False


@pytest.mark.parametrize(
    ("text", "made"),
    [("Markup('<p>{}</p>').format(x)", False), ("Markup(f'<p>{x}</p>')", True),
     ("jinja2.Environment()", True), ("jinja2.Environment(loader=x, autoescape=True)", False)],
)  # fmt: skip
def test_what_makes_markup_is_found(text, made):
    assert makes_markup(text) == made


def test_nothing_else_becomes_markup():
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if makes_markup(path.read_text(encoding="utf-8"))
    }
    assert found <= ALLOWED
    for path in SOURCE.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe\b|autoescape false", text), path
    for path in SOURCE.rglob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text
        ), path


@pytest.mark.parametrize("name", ["quality/page.html", "report/page.html"])
def test_a_page_loads_nothing(name):
    text = (SOURCE / name).read_text(encoding="utf-8")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert policy and "default-src 'none'" in policy[1]
    assert "http" not in policy[1]


# ---- network ------------------------------------------------------------------------------------


@pytest.fixture
def guarded(monkeypatch):
    """Fail whatever asks for an address or a connection; returns what was asked for."""
    asked = []

    def refused(*arguments, **_):
        asked.append(arguments[-1])
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket.socket, "connect_ex", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)
    return asked


def run(*arguments: object) -> None:
    import typer

    from poshgrid.cli import app

    with pytest.raises(SystemExit) as end:
        typer.main.get_command(app).main([str(each) for each in arguments], prog_name="poshgrid")
    assert end.value.code in (0, None)


def test_nothing_but_fetch_asks_for_the_network(tmp_path, guarded, root, capsys):
    tiny = root / "studies/posh-bench/toy.yaml"
    run("ready", tiny)
    put(tmp_path, "a.txt", "The dog sat.\n")
    job = jobs.text(tmp_path / "out", source_spec("text", "a.txt"), data=str(tmp_path))
    run("stage", "read", job)
    assert guarded == []


# ---- names --------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["../out", "/etc/x", "a/b", "a\0b", "-rf", "x" * 255, "a b"])
def test_no_name_leads_out_of_the_results(root, word):
    text = (root / "studies/posh-bench/toy.yaml").read_text(encoding="utf-8")
    for place in ("sources", "corpora", "conditions", "models", "recipes", "suites", "parsers",
                  "experiments", "regressions"):  # fmt: skip
        config = yaml.safe_load(text)
        config[place][0]["name"] = word
        with pytest.raises(PoshgridError, match=rf"{place}\[0\]\.name: "):
            configfile.validate(config)
