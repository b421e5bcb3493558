"""Load a model from a folder or the Hugging Face hub, and return the engine that scores with it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poshgrid.core import logs
from poshgrid.core.errors import PoshgridError, reason
from poshgrid.core.files import read_json
from poshgrid.evaluation.engines import probe

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from poshgrid.config import Scoring
    from poshgrid.evaluation.engine import Engine

log = logs.get(__name__)
NGRAM = "poshgrid-ngram"  # model_type of our own n-gram models
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "spiece.model", "vocab.json", "vocab.txt")
_PICKLED = ("*.bin", "*.pt", "*.pth", "*.h5", "*.msgpack")
_HUB = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")


def load(
    model: str, scoring: Scoring, *, revision: str | None = None, tokenizer: Path | None = None
) -> Engine:
    """Load a model and its tokenizer as an engine.

    Code of a model is never run, and weights are read from safetensors only, because pickled
    weights can run code.

    Args:
        model: a folder, or a name on the Hugging Face hub (``owner/name``), which transformers
            downloads.
        scoring: how sentences are scored.
        revision: branch, tag or commit on the hub; default: the newest.
        tokenizer: folder of the tokenizer, for a checkpoint without one; default: the model's.

    Raises:
        PoshgridError: the model does not exist, its weights do not match its configuration, it is
            neither causal nor masked, model and tokenizer do not match, or the start token was
            never trained.
    """
    hub = not Path(model).is_dir() and _HUB.fullmatch(model) is not None
    words = str(tokenizer or model)
    if hub:
        log.info("%s: no such folder; looking for it on the hub", model)
    elif _check_folder(Path(model), Path(words)) == NGRAM:
        from poshgrid.evaluation.engines import ngram
        from poshgrid.models.ngram import NGram

        return ngram.Engine(NGram.load(Path(model)))
    import torch

    torch.set_num_threads(scoring.threads)
    where = {"revision": revision} if hub else {"local_files_only": True}
    gpu = torch.cuda.is_available()
    if scoring.device == "cuda" and not gpu:
        raise PoshgridError("scoring.device: cuda, but torch sees no GPU; set it to auto or cpu")
    device = "cuda" if gpu and scoring.device != "cpu" else "cpu"
    network, masked = _read(model, device, where)
    loaded, saved = _tokenizer(model, words, where)
    rows = network.get_input_embeddings().num_embeddings
    if len(loaded) > rows:
        raise PoshgridError(
            f"{model}: the tokenizer has {len(loaded)} types but the model {rows} embeddings; put "
            "the tokenizer that the model was trained with into the folder"
        )
    if masked:
        probe.check_mask(model, loaded, saved)
    elif scoring.bos:
        probe.check_start(model, loaded, saved, network)
    from poshgrid.evaluation.engines.causal import Causal
    from poshgrid.evaluation.engines.masked import Masked

    families: tuple[type[Causal], type[Masked]] = (Causal, Masked)
    if scoring.engine == "minicons":
        from poshgrid.evaluation.engines.minicons import CausalMinicons, MaskedMinicons

        families = (CausalMinicons, MaskedMinicons)
    try:
        return families[masked](network, loaded, scoring, name=model)
    except (AttributeError, IndexError, RuntimeError, TypeError, ValueError) as error:
        raise PoshgridError(
            f"{model}: sentences cannot be scored with this family ({reason(error)}); choose "
            "another model"
        ) from error


def _check_folder(folder: Path, words: Path) -> str:
    """Return the model type of a folder; raise if files are missing or weights are pickled."""
    if not (folder / "config.json").is_file():
        raise PoshgridError(
            f"{folder}: no model (config.json is missing); name a folder that save_pretrained or "
            "the stage train wrote, or an id on a hub (OWNER/NAME)"
        )
    config = read_json(folder / "config.json")
    kind = config.get("model_type", "") if isinstance(config, dict) else ""
    if kind != NGRAM and not any((words / name).is_file() for name in _TOKENIZER_FILES):
        # transformers would create an empty tokenizer of the model's family.
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
    return str(kind)


def _read(model: str, device: str, where: dict[str, Any]) -> tuple[Any, bool]:
    """Return a model on its device, and whether it is scored as a masked model.

    A causal class with the weights of an encoder sees the whole sentence. It is read again as a
    masked model if its weights include the head for masked tokens.
    """
    from transformers import MODEL_FOR_MASKED_LM_MAPPING, AutoConfig
    from transformers.utils import logging

    from poshgrid.models import lstm, recency

    lstm.register()
    recency.register()
    logging.disable_progress_bar()
    logging.set_verbosity_error()  # instead of its report on surplus weights we give an error
    try:
        config = AutoConfig.from_pretrained(model, trust_remote_code=False, **where)
        if commit := getattr(config, "_commit_hash", None):
            where["revision"] = commit  # a branch may change between two requests
        masked = is_masked(config)
        network, loading = _weights(model, config, where, masked=masked)
        probe.check_weights(model, network, loading["missing_keys"], loading["unexpected_keys"])
        network = network.to(device)
        if masked or not probe.sees_later(network):
            return network, masked
        if type(config) in MODEL_FOR_MASKED_LM_MAPPING:
            network, loading = _weights(model, config, where, masked=True)
            if not loading["missing_keys"]:
                return network.to(device), True
    except PoshgridError:
        raise
    # Each file format fails in its own way (safetensors, JSON, tensors of the wrong shape, ...).
    except Exception as error:
        raise _unreadable(model, where.get("revision"), error) from error
    raise PoshgridError(
        f"{model}: a later token changes the scores of earlier ones, and there are no weights of a "
        "head for masked tokens: such scores are no probabilities; choose a causal or masked model"
    )


def _weights(model: str, config: Any, where: dict[str, Any], *, masked: bool) -> Any:  # noqa: ANN401
    """Load a model in float32; return it and transformers' report on missing, surplus weights."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM

    family = AutoModelForMaskedLM if masked else AutoModelForCausalLM
    # Always float32: half precision changes decisions between members with nearly equal scores.
    return family.from_pretrained(
        model,
        config=config,
        dtype=torch.float32,
        use_safetensors=True,
        trust_remote_code=False,
        output_loading_info=True,
        **where,
    )


def _tokenizer(model: str, words: str, where: dict[str, Any]) -> tuple[Any, Tokenizer | None]:
    """Return a model's tokenizer, and that of ``tokenizer.json``, or None without this file."""
    from tokenizers import Tokenizer
    from transformers import AutoTokenizer
    from transformers.utils.hub import cached_file

    try:
        tokenizer = AutoTokenizer.from_pretrained(words, trust_remote_code=False, **where)
        path = cached_file(
            words, "tokenizer.json", _raise_exceptions_for_missing_entries=False, **where
        )
        saved = Tokenizer.from_file(path) if path else None
    except Exception as error:
        raise _unreadable(model, where.get("revision"), error) from error
    if saved is not None:
        warn_if_different(words, saved, tokenizer)
    return tokenizer, saved


def _unreadable(name: str, revision: str | None, error: Exception) -> PoshgridError:
    """Return the error for a model whose files cannot be read, or not be downloaded."""
    at = f" at revision {revision}" if revision else ""
    if not Path(name).exists():
        return PoshgridError(
            f"{name}{at}: no such folder, and cannot be loaded from the hub ({reason(error)}); "
            f"give a folder, or download it first (hf download {name})"
        )
    return PoshgridError(
        f"{name}{at}: cannot load the model ({reason(error)}); give a folder whose files belong "
        "together; pickled weights are not read"
    )


def is_masked(config: Any) -> bool:  # noqa: ANN401 - every family has its own class
    """Return whether a configuration belongs to a masked model, by its name or its family."""
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_MASKED_LM_MAPPING

    names = getattr(config, "architectures", None) or ()
    return any(name.endswith("ForMaskedLM") for name in names) or (
        type(config) in MODEL_FOR_MASKED_LM_MAPPING
        and type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING
    )


def warn_if_different(words: str, saved: Tokenizer, tokenizer: Any) -> None:  # noqa: ANN401
    """Warn if the tokenizer as loaded and ``tokenizer.json`` split a sentence differently.

    transformers may change the prefix space when it loads a tokenizer: in the published scores, the
    first word of every sentence has other tokens than in training.
    """
    sentence = "Who did the girl say that John likes?"
    expected = saved.encode(sentence, add_special_tokens=False).ids
    if expected != tokenizer(sentence, add_special_tokens=False)["input_ids"]:
        log.warning("%s: transformers tokenizes sentences differently from tokenizer.json", words)
