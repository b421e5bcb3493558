"""The documentation says what the code does."""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
import shlex
import subprocess
import sys

import polars as pl
import pytest
import typer.main
import yaml

from poshgrid.cli import app
from poshgrid.config import BayesianModel, Quality
from poshgrid.errors import PoshgridError
from poshgrid.statistics import design, gate
from poshgrid.statistics.schema import COUNTS

COMMAND = re.compile(r"(?:^\$ |`)poshgrid ([a-z][a-z-]*)", re.M)


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
        (each.name or each.callback.__name__).replace("_", "-"): each.rich_help_panel
        for each in app.registered_commands
    }
    shown = set().union(*(COMMAND.findall(read(root, page)) for page in pages(root)))
    assert shown <= set(commands)
    people = {name for name, panel in commands.items() if panel == "For people"}
    assert people - shown == {"schema"}  # for developers
