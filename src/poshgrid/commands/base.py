"""What the commands of the workflow's stages share; each rule calls one of them.

A command takes its slice of the configuration as ``--spec`` (canonical JSON) and its files by path,
so that the command of any job can be copied from its log and run by hand. Heavy libraries are
imported by the command that needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from poshgrid import specs
from poshgrid.errors import PoshgridError
from poshgrid.manifest import recorded
from poshgrid.specs import S

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Do language models learn, from what a child hears, what cannot be learned from it?",
)
PAPER = Path("config/config.yaml")
"""The configuration where none is named: the Snakefile's."""
Configs = Annotated[
    list[Path] | None, typer.Argument(help="Configuration files; the later change the earlier")
]
Results = Annotated[Path | None, typer.Option(help="Results folder; none: config's")]
Spec = Annotated[str, typer.Option(help="Slice of the configuration, as JSON")]
Code = Annotated[str, typer.Option(help="Fingerprint of the code, for the manifest")]
Data = Annotated[Path, typer.Option(help="Folder of the sources")]
Output = Annotated[Path, typer.Option(help="File or folder to write")]
Pairs = Annotated[list[str], typer.Option(help="name=path; may be repeated")]


def run(
    kind: type[S],
    spec: str,
    stage: Callable[[S], dict[str, Any]],
    *,
    manifest: Path,
    code: str,
    inputs: Iterable[Path] = (),
    editable: Iterable[str] = (),
) -> None:
    """Parse a stage's slice, run the stage and write the manifest with the facts it returns.

    Inputs that are not what their stages wrote are refused; ``editable`` files are held to nothing.
    """
    given = specs.parse(kind, spec)
    with recorded(
        manifest,
        spec=given.model_dump(mode="json"),
        code=code,
        inputs=inputs,
        editable=editable,
    ) as facts:
        facts.update(stage(given))


def named(pairs: list[str]) -> dict[str, Path]:
    """Return name -> path of ``name=path`` arguments.

    Raises:
        PoshgridError: an argument has no equals sign.
    """
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, path = pair.partition("=")
        if not equals:
            raise PoshgridError(f"{pair!r}: write name=path")
        found[name] = Path(path)
    return found


def beside(output: Path) -> Path:
    """Return the manifest of a table that shares its folder with others.

    Raises:
        PoshgridError: the path has no name of a file, as ``.`` has none.
    """
    if not output.name:
        raise PoshgridError(f"{output}: a folder; give --output a file")
    return output.with_name(f"{output.stem}.manifest.json")
