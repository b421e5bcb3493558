"""The documentation says what the code does."""

import os
import re
import shlex
import subprocess
import sys

import typer.main
import yaml

from poshgrid.cli import app
from poshgrid.grid import configfile
from poshgrid.statistics import power
from tests.shipped import script

COMMAND = re.compile(r"(?:^\$ |`)poshgrid ([a-z][a-z-]*)", re.M)


def read(root, page):
    return (root / page).read_text(encoding="utf-8")


# ---- docs/reference ----------------------------------------------------------------------------


def test_the_generated_pages_are_up_to_date(root):
    for path, text in script(root / "docs/generate.py").pages().items():
        assert path.read_text(encoding="utf-8") == text, "run: python docs/generate.py"


# ---- docs/statistics.md --------------------------------------------------------------------------


def test_the_worked_model_can_be_fitted(root):
    block = re.search(r"```yaml\n(regressions:\n.*?)```", read(root, "docs/statistics.md"), re.S)[1]
    config = configfile.read(root / "config/config.yaml") | yaml.safe_load(block)
    power.check_regressions(configfile.validate(config))


# ---- all pages ---------------------------------------------------------------------------------


def pages(root):
    """The pages that people write and read, those of the studies too."""
    return [root / "README.md", *(root / "docs").rglob("*.md"), *(root / "studies").rglob("*.md")]


def test_the_book_builds_without_a_warning(root, tmp_path):
    """Links, anchors and the order of pages: mkdocs.yml says strict."""
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", tmp_path / "site"],
        cwd=root, capture_output=True, text=True, check=False,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "site/studies/fict").exists()


def test_options_of_shown_commands_exist(root):
    """Every `$ poshgrid ...` of a console block, and the example of each command's help."""
    group = typer.main.get_command(app)
    lines = [
        (page.name, line.removeprefix("$ "))
        for page in pages(root)
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("$ poshgrid ")
    ]
    lines += [(name, c.epilog.removeprefix("Example: ")) for name, c in group.commands.items()]
    assert len(lines) > 50
    for page, line in lines:
        words = shlex.split(line.split("&&")[0].rstrip("\\"), comments=True)[1:]
        if words[0].startswith("-") or words[0] == "run":  # run hands its arguments to Snakemake
            continue
        parameters = group.commands[words[0]].params
        known = {option for p in parameters for option in (*p.opts, *p.secondary_opts)}
        options = {word.split("=")[0] for word in words if word.startswith("--") and word != "--"}
        assert options <= known | {"--help"}, f"{page}: {line}"


def test_commands_exist_and_those_for_people_are_shown(root):
    commands = {
        (command.name or command.callback.__name__).replace("_", "-"): command.hidden
        for command in app.registered_commands
    }
    shown = set().union(*(COMMAND.findall(read(root, page)) for page in pages(root)))
    assert shown <= set(commands)
    assert {name for name, hidden in commands.items() if not hidden} <= shown
