"""``poshgrid init`` and ``poshgrid run``: a study in its own folder, without a checkout."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from poshgrid.commands.base import command
from poshgrid.core import resources
from poshgrid.core.errors import PoshgridError
from poshgrid.core.files import atomic, write_text

SNAKEFILE = """\
# The workflow of poshgrid as it is installed. Rules of your own may follow; filters, suites and
# other plug-ins of your own lie in plugins/ (docs/extending.md).
from poshgrid.core import resources


include: str(resources.shipped("Snakefile"))


workflow.default_target = "all"  # what is included leaves none
"""
STARTERS = (
    "config/*.yaml", "studies/*/*.yaml", "profiles/*/*", "resources/examples/**/*",
    "resources/sources.yaml", "workflow/schemas/*", "docs/**/*.md", "docs/**/*.png", "docs/*.ipynb",
    "docs/examples/**/*", "studies/**/*.md",
)  # fmt: skip
"""Files copied into a new study, to be edited there; also the docs that messages name."""
MINIMAL = (
    "resources/minimal/**/*", "profiles/default/*", "resources/sources.yaml", "docs/**/*.md",
)  # fmt: skip


@command("poshgrid init my-study --minimal")
def init(
    folder: Annotated[Path, typer.Argument(help="Folder to make")],
    minimal: Annotated[
        bool,
        typer.Option("--minimal", help="A study of your own text in 25 lines, with an example"),
    ] = False,
) -> None:
    """Make the folder of a study: configurations, profiles, example data, a Snakefile, docs."""
    top, made = resources.ROOT.parent, {}
    for pattern in MINIMAL if minimal else STARTERS:
        for path in sorted(file for file in top.glob(pattern) if file.is_file()):
            made[path.relative_to(top).as_posix().removeprefix("resources/minimal/")] = path
    # Snakemake looks for `--profile slurm` here; only `default` is found in profiles/
    links = {Path(name).parts[1] for name in made if name.startswith("profiles/")} - {"default"}
    if os.path.lexists(folder):
        raise PoshgridError(f"{folder}: exists already; name a new folder")
    with atomic(folder) as temporary:  # leaves no incomplete folder
        for name, source in made.items():
            (temporary / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, temporary / name)
        write_text(temporary / "Snakefile", SNAKEFILE)
        for name in links:
            (temporary / name).symlink_to(Path("profiles", name))
    run = "poshgrid run" if minimal else "poshgrid run --profile tiny"
    typer.echo(f"made {folder}; next: cd {shlex.quote(str(folder))} && {run}")


class _Verbatim(TyperCommand):
    """A command that receives its arguments unchanged, including ``--``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - typer's own
        words = [] if args[:1] == ["--help"] else list(args)
        super().parse_args(ctx, [] if words else args)
        ctx.args = words
        return words


@command(
    "poshgrid run -n config/tiny.yaml  (what would run, and why; without -n it runs)",
    kind=_Verbatim,
    options="[CONFIGURATIONS] [ARGUMENTS OF SNAKEMAKE]",
)
def run(context: typer.Context) -> None:
    """Run a study: Snakemake with its arguments, by default on all cores.

    Without a configuration: the profile's, else study.yaml of this folder, if there is one.
    """
    folder = str(Path(sys.executable).parent)  # jobs call `poshgrid`
    path = os.pathsep.join([folder, os.environ.get("PATH", os.defpath)])
    words = [sys.executable, "-P", "-m", "poshgrid.planning.launch", *context.args]
    os.execve(sys.executable, words, os.environ | {"PATH": path})
