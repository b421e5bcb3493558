"""``poshgrid export``: models, items and tables for the tools that others use."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from poshgrid.commands.base import Output, app
from poshgrid.errors import PoshgridError, check_known, reason

KINDS = ("models", "items", "tables")


@app.command(rich_help_panel="Results")
def export(
    what: Annotated[str, typer.Argument(help=f"{', '.join(KINDS[:-1])} or {KINDS[-1]}")],
    results: Annotated[Path, typer.Argument(help="Results folder, e.g. results/tiny")],
    output: Output = Path("exported"),
    target: Annotated[
        str | None, typer.Option(help="Whose accuracies and tables; none: all")
    ] = None,
    suite: Annotated[
        list[str] | None, typer.Option(help="Of items; may be repeated; none: all")
    ] = None,
    only: Annotated[str | None, typer.Option(help="Of models, e.g. size=10M,seed=42")] = None,
    licence: Annotated[
        str | None, typer.Option(help="Of models, as the Hub spells it: cc-by-nc-sa-4.0")
    ] = None,
    upload: Annotated[
        str | None, typer.Option(help="User or organisation of the Hugging Face Hub to send to")
    ] = None,
    public: Annotated[bool, typer.Option("--public", help="New repositories are public")] = False,
) -> None:
    """Write results as other tools read them (docs/export.md)."""
    import poshgrid

    check_known("unknown word", what, KINDS)
    if upload and what not in ("models", "items"):
        raise PoshgridError(f"--upload: sends models and items; {what} stay here")
    found = poshgrid.open(results)
    if what == "models":
        from poshgrid.config.runs import parse_only
        from poshgrid.export import models

        runs = models.chosen(found, parse_only(only, "--only"))
        folders = models.export(found, runs, output / what, target=target, licence=licence)
    elif what == "items":
        from poshgrid.export import items

        folders = [items.export(found, each, output / what) for each in suite or found.suites]
    else:
        from poshgrid.export import tables

        folders = [tables.export(found, output / what, target)]
    for folder in folders:
        typer.echo(folder)
    if upload:
        kind = "model" if what == "models" else "dataset"
        for address in _upload(folders, upload, kind, public=public):
            typer.echo(address)


def _upload(folders: Iterable[Path], owner: str, kind: str, *, public: bool) -> list[str]:
    """Send folders to the Hugging Face Hub, with the user's own token: a repository for each.

    Args:
        folders: each named as its repository.
        owner: user or organisation.
        kind: of the repositories: model or dataset.
        public: of repositories that are new; those that exist stay what they are.

    Returns:
        Addresses of the commits.

    Raises:
        PoshgridError: no token, no right to write, or no network.
    """
    from huggingface_hub import HfApi

    api, sent = HfApi(), []
    for folder in folders:
        name = f"{owner}/{folder.name}"
        try:
            api.create_repo(name, repo_type=kind, private=not public, exist_ok=True)
            commit = api.upload_folder(
                repo_id=name, repo_type=kind, folder_path=folder,
                commit_message="Exported by poshgrid",
            )  # fmt: skip
        except Exception as error:  # its errors and its HTTP library change between releases
            raise PoshgridError(
                f"--upload: {name} was not sent ({reason(error)}); log in with `hf auth login` and "
                f"check the name and the network. The folder is {folder}"
            ) from error
        sent.append(str(commit.commit_url))
    return sent
