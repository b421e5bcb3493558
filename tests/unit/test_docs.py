"""The documentation says what the code does."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import json
import os
import re
import shlex
import subprocess
import sys

import polars as pl
import pytest
import typer.main
import yaml

from poshgrid import plugins
from poshgrid.audit import sheet as sheets
from poshgrid.audit.draw import draw
from poshgrid.cli import app
from poshgrid.config import (
    BayesianModel,
    Condition,
    Parser,
    Quality,
    Section,
    Source,
    Tokenizer,
    specs,
)
from poshgrid.corpora.read import read_source
from poshgrid.corpora.schema import SENTENCES
from poshgrid.errors import PoshgridError
from poshgrid.evidence import condition, prebuilt
from poshgrid.evidence.label import label
from poshgrid.evidence.recall import recall
from poshgrid.evidence.schema import EVIDENCE, Labels, column
from poshgrid.evidence.screening.detector import learn
from poshgrid.evidence.screening.screen import screen
from poshgrid.files import write_table
from poshgrid.parsing import parse
from poshgrid.parsing.evaluate import RELATIONS
from poshgrid.parsing.tree import Tree
from poshgrid.statistics import design, gate
from poshgrid.statistics.schema import COUNTS
from poshgrid.tables import columns
from poshgrid.tokenization.sweep import sweep
from tests.documented import spelled

TABLES = [
    ("corpora", "SOURCE"),
    ("corpora", "SENTENCES"),
    ("parsing", "PARSES"),
    ("evidence", "CONDITION"),
    ("evidence", "COLLATERAL"),
    ("evidence", "RECALL"),
    ("training", "TRAINING"),
    ("benchmark", "ITEMS"),
    ("benchmark", "PARADIGMS"),
    ("benchmark", "CHOICES"),
    ("benchmark", "COMPLETIONS"),
    ("evaluation", "SCORES"),
    ("evaluation", "PARADIGM_SCORES"),
    ("evaluation", "CHOICE_SCORES"),
    ("evaluation", "COMPLETION_SCORES"),
    ("evaluation", "TOKENS"),
    ("rules", "RULES"),
    ("rules", "SHARES"),
    ("rules", "MIXTURE"),
    ("rules", "IDENTIFIABILITY"),
    ("statistics", "COUNTS"),
    ("statistics", "ACCURACY"),
    ("statistics", "BESIDE_NULLS"),
    ("statistics", "CURVES"),
    ("statistics", "CURVES_MEAN"),
    ("statistics", "TRAINED"),
    ("statistics", "SUMMARY"),
    ("statistics", "CONTRASTS"),
    ("statistics", "PREDICTIVE"),
    ("statistics", "DELTAS"),
    ("statistics", "DELTA_ITEMS"),
    ("statistics", "DELTA_TESTS"),
    ("statistics", "PERPLEXITY"),
    ("statistics.measures.schema", "PARADIGM_MEASURES"),
    ("statistics.measures.schema", "CHOICE_MEASURES"),
    ("statistics.measures.schema", "TAGS"),
    ("statistics.measures.schema", "NORMS"),
]
COMMAND = re.compile(r"(?:^\$ |`)poshgrid ([a-z][a-z-]*)", re.M)
PACKAGES = [
    "poshgrid.corpora.readers",
    "poshgrid.parsing.engines",
    "poshgrid.models.architectures",
    "poshgrid.benchmark.suites",
    "poshgrid.training.biases",
]


def tables(text, *header):
    """Return the tables of a page with this header: for each, a list of rows."""
    head = f"| {' | '.join(header)} |\n|{'---|' * len(header)}\n"
    blocks = re.findall(re.escape(head) + r"((?:\|.*\n)+)", text)
    rows = [[re.split(r"(?<!\\)\|", row)[1:-1] for row in b.splitlines()] for b in blocks]
    return [[tuple(cell.strip().replace("\\|", "|") for cell in row) for row in b] for b in rows]


def read(root, page):
    return (root / page).read_text(encoding="utf-8")


# ---- docs/reference, docs/data.md --------------------------------------------------------------


@pytest.fixture(scope="module")
def generate(root):
    """docs/generate.py, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("generate", root / "docs/generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_generated_pages_are_up_to_date(generate):
    for path, text in generate.pages().items():
        assert path.read_text(encoding="utf-8") == text, "run: python docs/generate.py"


def written(schema):
    return [(f"`{c}`", str(kind() if isinstance(kind, type) else kind)) for c, kind in schema]


@pytest.mark.parametrize(("stage", "name"), TABLES)
def test_every_column_has_a_line_that_says_what_it_means(root, stage, name):
    module = stage if "." in stage else f"{stage}.schema"
    schema = getattr(importlib.import_module(f"poshgrid.{module}"), name)
    after = read(root, "docs/reference/tables.md").partition(f"\n### {name}\n")[2]
    found = tables(after, "column", "type", "meaning")[0]
    assert [row[:2] for row in found] == written(schema.items())
    assert all(row[2] for row in found)


def test_a_column_without_a_meaning_is_refused(tmp_path, monkeypatch):
    text = 'A = {\n    # of\n    "x": 1,  # this\n    "y": 2,\n}\n"""``a.parquet``: rows."""\n'
    (tmp_path / "plain_schema.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("plain_schema")
    assert columns.tables(module) == {"A": "``a.parquet``: rows."}
    with pytest.raises(KeyError, match="y"):
        columns.columns(module, "A")
    del module.A["y"]
    assert columns.columns(module, "A") == {"x": "of this"}


def test_the_columns_of_evidence_are_those_of_its_labels():
    labels = Labels({"a-b": ("c",)}, {"a-b": ("c",)})
    schema = {
        c.replace(column("a-b", "c"), "{filter}_{reading}"): k for c, k in labels.schema.items()
    }
    assert list(schema.items()) == list(EVIDENCE.items())


def test_the_columns_of_sheets_are_documented(root):
    page = read(root, "docs/data.md")
    sheet = [f"`{name}`" for name in sheets.COLUMNS]
    assert sheet in [[row[0] for row in table] for table in tables(page, "column", "what")]


def keys(value, names, place=""):
    """Return the keys of a JSON value, with placeholders for the names that differ."""
    if isinstance(value, dict) and value:
        below = (keys(v, names, f"{place}.{names.get(k, k)}") for k, v in value.items())
        return set().union(*below)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return set().union(*(keys(each, names, f"{place}[]") for each in value))
    return {place.lstrip(".")}


def check_keys(root, *answers, names=None):
    found = set().union(*(keys(json.loads(json.dumps(a)), names or {}) for a in answers))
    pages = tables(read(root, "docs/data.md"), "key", "what")
    documented = [{k for row in table for k in spelled(row[0].strip("`"))} for table in pages]
    near = min(documented, key=lambda table: len(table ^ found))
    assert found == near, "docs/data.md: these keys are on one side only"


class Stub:
    """A parser for which every word is an unknown one."""

    def parse(self, sentences):
        return [
            Tree(w, ["X"] * len(w), ["_"] * len(w), [0] + [1] * (len(w) - 1), ["dep"] * len(w))
            for w in sentences
        ]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A base of a dozen sentences, its parses, labels and a condition, with what stages return."""
    folder = tmp_path_factory.mktemp("base")
    texts = [
        "Is the boy who is in the park smiling?", "The girl that she saw hurt herself.",
        "The dad of the boy likes himself.", "We eat it.", "What is it?", "They run.",
    ] * 2  # fmt: skip
    base = pl.DataFrame(
        [
            (i, "childes", "d", i, text, len(text.split()), split, i, "1K" * (split == "train"))
            for i, (text, split) in enumerate(
                zip(texts, ["train"] * 8 + ["dev"] * 2 + ["test"] * 2, strict=True)
            )
        ],
        schema=SENTENCES,
        orient="row",
    )
    sentences, shard, labels = (folder / f"{n}.parquet" for n in ("sentences", "0", "labels"))
    write_table(base, sentences, SENTENCES)
    filters = ["binding", "question-formation"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parse, "_load", lambda *given: Stub())
        given = Parser(name="stub", engine="spacy", model="x")
        spec = specs.ParseSpec(parser=given, shard=0, shards=1, screens=filters)
        parsed = parse.parse(spec, sentences, folder, shard, screen(spec.screens))
    labelled = label(specs.EvidenceSpec(filters=filters), sentences, [shard], labels)
    chosen = Condition(
        name="baby", base="baby", filters=filters,
        reinsert=[{"filter": "binding", "rate": 0.0, "pool": "paper"}],
    )  # fmt: skip
    spec = specs.ConditionSpec(condition=chosen, size="1K", backstop=True)
    allowed = specs.BesideSpec(allow=["void"])  # the stub's trees hold nothing
    built = condition.build(spec, sentences, labels, folder / "condition", allowed)
    return folder, sentences, labels, {"parse": parsed, "evidence": labelled, "condition": built}


NAMES = {
    "train": "{split}", "dev": "{split}", "test": "{split}", "childes": "{source}",
    "binding": "{filter}", "question-formation": "{filter}", "agr-pp-mod": "{filter}",
    "ready": "{source}", "binding.paper": "{filter}", "question-formation.paper": "{filter}",
    "paper": "{reading}", "direct": "{reading}", "reflexive after two nouns": "{rule}",
    "1": "{stratum}",
}  # fmt: skip


@pytest.mark.parametrize("stage", ["parse", "evidence"])
def test_what_a_stage_counts_is_documented(root, made, stage):
    found = json.loads(json.dumps(made[3][stage]))
    if stage == "evidence":  # the stub's trees fire no rule
        for readings in found["filters"].values():
            for facts in readings.values():
                facts["rules"] = {"reflexive after two nouns": 0}
    check_keys(root, found, names=NAMES)


def test_what_recall_counts_is_documented(root, tmp_path, monkeypatch):
    monkeypatch.setattr(parse, "_load", lambda *given: Stub())
    path = tmp_path / "gold.conllu"
    path.write_text("1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n", encoding="utf-8")
    given = Parser(name="stub", engine="spacy", model="x")
    spec = specs.RecallSpec(parser=given, filters=["binding"], gold=[path.name])
    recall(spec, tmp_path, tmp_path, None, tmp_path / "stub.parquet")
    counts = json.loads((tmp_path / "stub.json").read_text(encoding="utf-8"))
    check_keys(root, counts, names={path.name: "{gold}"} | dict.fromkeys(RELATIONS, "{relation}"))


def test_statistics_of_conditions_are_documented(root, made, tmp_path):
    folder = tmp_path / "1K"
    folder.mkdir()
    for split in ("train", "dev", "test"):
        (folder / f"{split}.txt").write_text("We run.\n" * 500)
    chosen = Condition(name="ready", base="baby", prebuilt=".")
    ready = prebuilt.build(
        specs.ConditionSpec(condition=chosen, size="1K"), folder, tmp_path / "out"
    )
    empty = {key: value for key, value in ready.items() if value or key == "downsample"}
    filled = json.loads(json.dumps(made[3]["condition"]))
    filled["reinserted"]["binding"]["words_difference"] = {"childes": 0.0}
    check_keys(root, empty, filled, names=NAMES)


def test_statistics_of_sheets_are_documented(root, made, tmp_path):
    folder, sentences, labels, _ = made
    given = specs.AuditSpec(
        condition="baby", size="1K", filters=["binding", "question-formation"], sample=3, seed=1
    )
    found = draw(given, folder / "condition", sentences, labels, tmp_path)
    # As with a detector
    found["filters"]["binding"]["suspects"] = {"candidates": 9, "sampled": 3, "digest": "x"}
    check_keys(root, found, names=NAMES)


def test_statistics_of_a_detector_are_documented(root, tmp_path):
    spec = specs.DetectorSpec(
        treebank={"path": "toy", "sentences": 200, "heldout": 0.5}, filters=["question-formation"]
    )
    names = dict.fromkeys(("train", "dev", "test"), "{split}")
    names |= {"toy": "{part}", "question-formation": "{filter}"}
    check_keys(root, learn(spec, tmp_path, tmp_path / "detector"), names=names)


def test_statistics_of_sweeps_and_sources_are_documented(root, made, tmp_path):
    spec = specs.TokenizerSpec(tokenizer=Tokenizer(sweep=[260, 270]))
    check_keys(root, sweep(spec, made[0] / "condition", tmp_path / "sweep.json"))
    (tmp_path / "a.txt").write_text("We run home.\nYes.\n", encoding="utf-8")
    source = Source(name="a", reader="text", path="a.txt", cleaning={"min_words": 2})
    found = read_source(specs.SourceSpec(source=source), tmp_path, tmp_path / "s.parquet")
    check_keys(root, found, names={"too short": "{reason}"})


def test_every_key_has_a_line_that_says_what_it_means(root, generate):
    sections = list(generate.sections())
    for place, kind in sections:
        heading = f"\n## `{place}`\n" if place else "\n## Top level\n"
        after = read(root, "docs/reference/configuration.md").partition(heading)[2]
        rows = tables(after, "key", "type", "default", "meaning")[0]
        assert [row[0] for row in rows] == [f"`{name}`" for name in kind.model_fields], place
        assert all(row[1] not in ("", "any") and row[2] and row[3] for row in rows), place
    known = {kind for kind in below(Section) if kind.__module__.startswith("poshgrid.config")}
    stages = {kind for kind in known if kind.__module__ == "poshgrid.config.specs"}
    assert known - stages == {kind for _, kind in sections}


def below(kind):
    """All subclasses of a class."""
    return {each for sub in kind.__subclasses__() for each in {sub, *below(sub)}}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_option_of_a_plugin_has_a_line_that_says_what_it_means(root, package):
    head = ("word", "option", "type", "default", "meaning")
    rows = [
        row
        for table in tables(read(root, "docs/reference/configuration.md"), *head)
        for row in table
    ]
    for word in plugins.names(package):
        options = getattr(plugins.load(package, word), "Options", plugins.Options)
        for name, field in options.model_fields.items():
            said = [row for row in rows if row[:2] == (f"`{word}`", f"`{field.alias or name}`")]
            assert len(said) == 1, (word, name)
            assert said[0][2] not in ("", "any") and said[0][4]


# ---- docs/statistics.md --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def counts():
    """Every predictor of the page varies: conditions, sizes, learners, regimens, biases, seeds."""
    conditions = {"baby": ("baby", False), "baby-f": ("baby", True), "wiki": ("wiki", False)}
    phenomena = {"island-wh": "island", "island-adjunct": "island", "wanna": "wanna"}
    axes = itertools.product(
        conditions, ("10M", "30M"), ("gpt2-mini", "lstm"),
        (("packed", "none"), ("sentence", "none"), ("sentence", "dyck")), (42, 53), phenomena,
    )  # fmt: skip
    rows = [
        {
            "condition": condition, "size": size, "learner": learner, "regimen": regimen,
            "bias": bias, "seed": seed, "suite": "posh", "category": phenomena[phenomenon],
            "phenomenon": phenomenon, "correct": float(30 + (7 * i) % 50), "ties": 0, "n": 100,
            "words": int(size[:-1]) * 10**6, "source": conditions[condition][0],
            "filtered": conditions[condition][1],
        }
        for i, (condition, size, learner, (regimen, bias), seed, phenomenon) in enumerate(axes)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=COUNTS)


def test_the_worked_model_can_be_fitted(root, counts):
    block = re.search(r"```yaml\n(models:\n.*?)```", read(root, "docs/statistics.md"), re.S)[1]
    (written,) = yaml.safe_load(block)["models"]
    model = BayesianModel.model_validate(written)
    made = design.design(counts, model.formula, model.suite, model.only)
    assert made.notes == []  # every term is borne by the data
    assert len(made.frame) == counts.filter(regimen="packed").height
    for contrast in model.contrasts:
        assert {contrast.first, contrast.less} - {None} <= set(made.frame[contrast.factor])
        assert f"S({contrast.factor})" in design.terms(model.formula)
        assert all(f"S({factor})" in design.terms(model.formula) for factor in contrast.by)
    assert {prior.term for prior in model.priors} <= set(design.terms(model.formula))


def test_the_words_of_formulas_are_known(root, counts):
    page = read(root, "docs/statistics.md").partition("### Formula")[2].partition("### Priors")[0]
    (table,) = tables(page, "word", "what")
    words = [word for row in table for word in re.findall(r"`([^`]+)`", row[0])]
    assert {"size_z", "S(condition)", "(1|seed)", "(1|cell)"} <= set(words)
    words.remove("(1|set)")
    with pytest.raises(PoshgridError, match="the counts are not by lexical set"):
        design.design(counts, "p(correct, n) ~ (1|set)")
    for word in words:
        made = design.design(counts, f"p(correct, n) ~ {word}")
        assert made.formula == f"p(correct, n) ~ 1 + {word}"


def test_models_are_told_of_as_they_are(root):
    """Defaults that the page gives as numbers."""
    page = read(root, "docs/statistics.md")
    default = BayesianModel(name="m")
    for key, distribution in (
        ("intercept_sd", f"Normal(0, {default.intercept_sd:g})"),
        ("slope_sd", f"Normal(0, {default.slope_sd:g})".replace("0.", ".")),
        ("group_rate", f"Exponential({default.group_rate:g})"),
    ):
        assert re.search(rf"\| {re.escape(distribution)}.* \| `{key}` \|", page), key
    assert f"R-hat is at most {gate.R_HAT_MOST}" in page
    assert f"(bulk and tail) at least {gate.ESS_LEAST:.0f}" in " ".join(page.split())
    assert f"`quality.tolerance` ({Quality().tolerance:g})".replace("0.", ".") in page


# ---- all pages ---------------------------------------------------------------------------------


def pages(root):
    """The pages that people write and read, those of the studies too."""
    return [root / "README.md", *(root / "docs").rglob("*.md"), *(root / "studies").rglob("*.md")]


def test_links_lead_somewhere(root):
    for page in pages(root):
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if not link.startswith("http"):
                assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_book_builds_without_a_warning(root, tmp_path):
    """Links, anchors and the order of pages: mkdocs.yml says strict."""
    found = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", tmp_path / "site"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )
    assert (found.returncode, found.stderr) == (0, "")
    for page in ("index.html", "quickstart", "reference/tables", "studies/fict"):
        assert (tmp_path / "site" / page).exists()


def test_options_of_shown_commands_exist(root):
    """Every `$ poshgrid ...` of a console block: its command has its options."""
    group = typer.main.get_command(app)
    lines = [
        (page.name, line.removeprefix("$ "))
        for page in pages(root)
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("$ poshgrid ")
    ]
    assert len(lines) > 30
    for page, line in lines:
        words = shlex.split(line.split("&&")[0].rstrip("\\"), comments=True)[1:]
        if words[0].startswith("-") or words[0] == "run":  # run hands its arguments to Snakemake
            continue
        known = {option for each in group.commands[words[0]].params for option in each.opts}
        known |= {
            option for each in group.commands[words[0]].params for option in each.secondary_opts
        }
        given = {word.split("=")[0] for word in words if word.startswith("--") and word != "--"}
        assert given <= known | {"--help"}, f"{page}: {line}"


def test_every_page_is_linked_from_the_readme(root):
    text = read(root, "README.md")
    missing = [p.name for p in (root / "docs").glob("*.md") if f"(docs/{p.name})" not in text]
    assert missing == []


def test_commands_exist_and_those_for_people_are_shown(root):
    commands = {
        (each.name or each.callback.__name__).replace("_", "-"): each.hidden
        for each in app.registered_commands
    }
    shown = set().union(*(COMMAND.findall(read(root, page)) for page in pages(root)))
    assert shown <= set(commands)
    assert {name for name, hidden in commands.items() if not hidden} <= shown
