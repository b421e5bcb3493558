"""Sending exported folders to the Hugging Face Hub, with the user's own token."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from poshgrid.errors import PoshgridError, reason


def upload(
    folders: Iterable[Path], owner: str, kind: Literal["model", "dataset"], *, public: bool = False
) -> list[str]:
    """Make a repository for each folder and send the folder's files.

    Args:
        folders: each named as its repository.
        owner: user or organisation.
        kind: of the repositories.
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
                repo_id=name,
                repo_type=kind,
                folder_path=folder,
                commit_message="Exported by poshgrid",
            )
        except Exception as error:  # its errors and its HTTP library change between releases
            raise PoshgridError(
                f"--upload: {name} was not sent ({reason(error)}); log in with `hf auth login` and "
                f"check the name and the network. The folder is {folder}"
            ) from error
        sent.append(str(commit.commit_url))
    return sent
