"""From a model's folder, or its name on the Hugging Face hub, to the engine that scores with it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid import logs
from poshgrid.errors import PoshgridError, reason

if TYPE_CHECKING:
    from poshgrid.config import Scoring
    from poshgrid.evaluation.engine import Engine

log = logs.get(__name__)
NGRAM = "poshgrid-ngram"  # model_type of our own n-gram models
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "spiece.model", "vocab.json", "vocab.txt")
_READ = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja"]
"""Files of a model on a hub that are read: no pickles, no code."""
_PICKLED = ("*.bin", "*.pt", "*.pth", "*.h5", "*.msgpack")
_HUB = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")


def load(
    model: str, scoring: Scoring, *, revision: str | None = None, tokenizer: Path | None = None
) -> Engine:
    """Load a model and what is needed to score with it.

    Code that comes with a model is never run, and weights are read from safetensors only: pickled
    ones can run code.

    Args:
        model: a folder, or a name on the Hugging Face hub (``owner/name``), which transformers
            downloads.
        scoring: how sentences are scored.
        revision: branch, tag or commit on the hub; none: the newest.
        tokenizer: folder of the tokenizer, for a checkpoint without one; none: the model's.

    Raises:
        PoshgridError: there is no such model, it is not whole, or model and tokenizer do not fit
            together.
    """
    device = _device(scoring.device)
    if not Path(model).is_dir() and _HUB.fullmatch(model):
        found, words = _from_hub(model, revision)
    else:
        folder = Path(model)
        if not folder.is_dir():
            raise PoshgridError(
                f"{folder}: no such folder; name that of a model, or an id on a hub (OWNER/NAME)"
            )
        if not (folder / "config.json").is_file():
            raise PoshgridError(f"{folder}: no model (config.json is missing); train it first")
        if _kind(folder) == NGRAM:
            from poshgrid.evaluation.engines import ngram

            return ngram.load(folder, scoring)
        found, words = _from_folder(folder, tokenizer or folder)
    rows = found.get_input_embeddings().num_embeddings
    if len(words) > rows:
        raise PoshgridError(
            f"{model}: the tokenizer has {len(words)} types but the model {rows} embeddings; put "
            "the tokenizer that the model was trained with into the folder"
        )
    found = found.to(device).eval()
    if scoring.engine == "minicons":
        from poshgrid.evaluation.engines.minicons import CausalMinicons, MaskedMinicons

        kind = MaskedMinicons if is_masked(found.config) else CausalMinicons
        return kind(found, words, scoring, name=model)
    if is_masked(found.config):
        from poshgrid.evaluation.engines.masked import Masked

        return Masked(found, words, scoring, name=model)
    from poshgrid.evaluation.engines.causal import Causal

    return Causal(found, words, scoring, name=model)


def _from_folder(folder: Path, words: Path) -> tuple[Any, Any]:
    if not any((words / name).is_file() for name in _TOKENIZER_FILES):
        # transformers would make up an empty tokenizer of the model's family.
        raise PoshgridError(
            f"{words}: no tokenizer (tokenizer.json is missing); copy into the folder the "
            "tokenizer that the model was trained with"
        )
    pickled = sorted(path.name for kind in _PICKLED for path in folder.glob(kind))
    if pickled and not any(folder.glob("*.safetensors")):
        raise PoshgridError(
            f"{folder}: only pickled weights ({pickled[0]}), which can run code as they are read; "
            "save the model again with save_pretrained, which writes model.safetensors"
        )
    try:
        model, missing, tokenizer = _read(str(folder), str(words), local_files_only=True)
    # Each file format fails in its own way (safetensors, JSON, tensors of the wrong shape, ...).
    except Exception as error:
        raise PoshgridError(
            f"{folder}: cannot load the model ({reason(error)}); delete the folder and train it "
            "again"
        ) from error
    if missing:
        raise PoshgridError(
            f"{folder}: {len(missing)} weights are missing, e.g. {missing[0]}; "
            "delete the folder and train the model again"
        )
    same_cuts(words, tokenizer)
    return model, tokenizer


def download(name: str, revision: str | None) -> None:
    """Have a model of the hub in its cache, from which :func:`load` reads it without a network.

    Raises:
        PoshgridError: it can neither be had nor is it in the cache.
    """
    import huggingface_hub

    try:
        huggingface_hub.snapshot_download(
            name, revision=revision, allow_patterns=_READ, ignore_patterns=["*/*"]
        )
    except Exception as error:  # its errors and its HTTP library change between releases
        at = f" at revision {revision}" if revision else ""
        raise PoshgridError(
            f"{name}{at}: not to be had from the hub ({reason(error)}); give the model's folder, "
            f"or download it first (hf download {name})"
        ) from error


def _from_hub(name: str, revision: str | None) -> tuple[Any, Any]:
    at = f" at revision {revision}" if revision else ""
    try:
        model, missing, tokenizer = _read(name, name, revision=revision)
    except Exception as error:  # no network, no such model, no safetensors, no access ...
        if "safetensors" in str(error):
            raise PoshgridError(
                f"{name}{at}: the hub has no model.safetensors of it ({reason(error)}); pickled "
                "weights are not read: convert them and give the folder"
            ) from error
        raise PoshgridError(
            f"{name}{at}: no such folder, nor to be had from the hub ({reason(error)}); give the "
            f"model's folder, or download it first (hf download {name})"
        ) from error
    if missing:
        raise PoshgridError(
            f"{name}{at}: {len(missing)} weights are missing, e.g. {missing[0]}; this model was "
            "not made to score sentences"
        )
    return model, tokenizer


def _read(model: str, words: str, **where: Any) -> tuple[Any, list[str], Any]:  # noqa: ANN401
    """Return the model, the weights that it lacks, and the tokenizer."""
    import torch
    from transformers import (
        AutoConfig,
        AutoModelForCausalLM,
        AutoModelForMaskedLM,
        AutoTokenizer,
    )
    from transformers.utils import logging

    from poshgrid.models import lstm, recency

    lstm.register()
    recency.register()
    logging.disable_progress_bar()
    config = AutoConfig.from_pretrained(model, trust_remote_code=False, **where)
    if commit := getattr(config, "_commit_hash", None):
        where["revision"] = commit  # a branch may move between two requests
    family = AutoModelForMaskedLM if is_masked(config) else AutoModelForCausalLM
    # Weights of half precision change decisions between near-equal members: always float32.
    loaded: Any = family.from_pretrained(
        model,
        config=config,
        dtype=torch.float32,
        use_safetensors=True,
        trust_remote_code=False,
        output_loading_info=True,  # and so a pair, which transformers does not say
        **where,
    )
    found, loading = loaded
    tokenizer = AutoTokenizer.from_pretrained(words, trust_remote_code=False, **where)
    return found, sorted(loading["missing_keys"]), tokenizer


def is_masked(config: Any) -> bool:  # noqa: ANN401 - every family has its own class
    """Say whether a model's configuration is that of a masked one."""
    return any(
        name.endswith("ForMaskedLM") for name in getattr(config, "architectures", None) or ()
    )


def _kind(folder: Path) -> str | None:
    import json

    try:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None  # transformers says what is wrong
    return found.get("model_type") if isinstance(found, dict) else None


def _device(asked: str) -> str:
    import torch

    there = torch.cuda.is_available()
    if asked == "cuda" and not there:
        raise PoshgridError("scoring.device: cuda, but torch sees no GPU; set it to auto or cpu")
    return "cuda" if there and asked != "cpu" else "cpu"


def same_cuts(folder: Path, tokenizer: Any) -> None:  # noqa: ANN401
    """Warn if transformers cuts a sentence otherwise than ``tokenizer.json`` says.

    It may change the prefix space as it loads a tokenizer; the first word of every sentence was
    cut otherwise in the published scores than in training.
    """
    from tokenizers import Tokenizer

    path, sentence = folder / "tokenizer.json", "Who did the girl say that John likes?"
    if not path.is_file():
        return
    written = Tokenizer.from_file(str(path)).encode(sentence, add_special_tokens=False).ids
    if written != tokenizer(sentence, add_special_tokens=False)["input_ids"]:
        log.warning("%s: transformers cuts sentences otherwise than this file says", path)
