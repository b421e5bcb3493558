"""Log-probabilities of sentences under a causal language model, in batches of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from poshgrid import logs
from poshgrid.errors import PoshgridError

if TYPE_CHECKING:
    import torch

log = logs.get(__name__)
_PROJECTED = 1_024  # positions whose next-token scores are held at a time
_PROBE = 1e-4  # largest difference between the two ways to the logits
_TOKENIZER_FILES = ("tokenizer.json", "tokenizer.model", "spiece.model", "vocab.json")


class Score(NamedTuple):
    """What a sentence is worth."""

    logprob: float  # sum over the scored tokens, nats
    tokens: int  # scored tokens


class Scorer:
    """A causal language model and its tokenizer, ready to score.

    Args:
        folder: Hugging Face folder of the model, with the tokenizer's files.
        bos: true: the tokenizer's ``<bos>`` is the context of the first token, so that every token
            is scored; false: the first token is context only.

    Raises:
        PoshgridError: the folder holds no whole model and tokenizer, or they do not fit together.
    """

    def __init__(self, folder: Path, *, bos: bool) -> None:
        import torch

        self.folder, self.bos = folder, bos
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model, self.tokenizer = _load(folder)
        # Weights of half precision change decisions between near-equal members: always float32.
        self.model = self.model.to(device=self.device, dtype=torch.float32).eval()
        self.context = _context(self.model.config)
        self.bos_id = self.tokenizer.bos_token_id
        if bos and self.bos_id is None:
            raise PoshgridError(
                f"{folder}: the tokenizer has no bos token; set scoring.bos to false or name "
                "bos_token in tokenizer_config.json"
            )
        rows = self.model.get_input_embeddings().num_embeddings
        if len(self.tokenizer) > rows:
            raise PoshgridError(
                f"{folder}: the tokenizer has {len(self.tokenizer)} types but the model {rows} "
                "embeddings; put the tokenizer that the model was trained with into the folder"
            )
        self._separate = self._can_separate()

    def score(self, texts: Sequence[str], batch_tokens: int, names: Sequence[str]) -> list[Score]:
        """Score sentences.

        Sentences are sorted by length and batched, so that a batch holds at most ``batch_tokens``
        tokens, padding included (but at least one sentence). The scores do not depend on it.

        Args:
            texts: sentences, without ``<bos>``.
            batch_tokens: bound on a batch.
            names: what an error message calls each sentence.

        Returns:
            The scores, in the order of ``texts``.

        Raises:
            PoshgridError: a sentence has no token to score, or is longer than the model's context.
        """
        rows = [self._encode(text, name) for text, name in zip(texts, names, strict=True)]
        found: list[Score | None] = [None] * len(rows)
        for batch in logs.progress(batches([len(row) for row in rows], batch_tokens), "scoring"):
            sums = self._batch([rows[i] for i in batch])
            for i, total in zip(batch, sums, strict=True):
                found[i] = Score(total, len(rows[i]) - 1)
        return [score for score in found if score is not None]

    def _encode(self, text: str, name: str) -> list[int]:
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        row = [self.bos_id, *ids] if self.bos else list(ids)
        if len(row) < 2:
            raise PoshgridError(
                f"{name}: {text!r} has {len(ids)} tokens, so that none can be scored"
                + ("" if self.bos or not ids else " without <bos>; set scoring.bos to true")
            )
        if self.context is not None and len(row) > self.context:
            raise PoshgridError(
                f"{name}: {len(row)} tokens, but {self.folder} sees {self.context} at a time; "
                "sentences are never cut: leave the item out or use a model with a longer context"
            )
        return row

    def _batch(self, rows: list[list[int]]) -> list[float]:
        import torch

        longest = max(len(row) for row in rows)
        # Padding stands to the right, where a causal model cannot see it: any id will do.
        ids = torch.zeros(len(rows), longest, dtype=torch.long)
        real = torch.zeros(len(rows), longest, dtype=torch.bool)
        for i, row in enumerate(rows):
            ids[i, : len(row)] = torch.tensor(row)
            real[i, : len(row)] = True
        ids, real = ids.to(self.device), real.to(self.device)
        predicted = real[:, 1:]  # (sentences, longest - 1): is there a token to predict?
        targets = ids[:, 1:][predicted]  # (tokens,)
        with torch.inference_mode():
            logprobs = self._logprobs(ids[:, :-1], real[:, :-1], predicted, targets)
        sums = torch.zeros(len(rows), dtype=torch.float64, device=self.device)
        owner = torch.arange(len(rows), device=self.device)[:, None].expand_as(predicted)[predicted]
        return sums.index_add_(0, owner, logprobs.double()).tolist()

    def _logprobs(
        self,
        ids: torch.Tensor,
        real: torch.Tensor,
        predicted: torch.Tensor,
        targets: torch.Tensor,
    ) -> torch.Tensor:
        """Return the log-probability of each target, shape (tokens,), float32."""
        import torch

        if self._separate:
            states = self._states(ids, real)[predicted]  # (tokens, width): no padding
            head = self.model.get_output_embeddings()
        else:
            states = self._logits(ids, real)[predicted]  # (tokens, types)
            head = torch.nn.Identity()
        parts = []
        for part, wanted in zip(states.split(_PROJECTED), targets.split(_PROJECTED), strict=True):
            logits = head(part).float()
            chosen = logits.gather(1, wanted[:, None]).squeeze(1)
            parts.append(chosen - logits.logsumexp(dim=1))
        return torch.cat(parts)

    def _states(self, ids: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        body = self.model.base_model
        found = body(input_ids=ids, attention_mask=real.long(), use_cache=False)
        return found.last_hidden_state

    def _logits(self, ids: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=ids, attention_mask=real.long(), use_cache=False).logits

    def _can_separate(self) -> bool:
        """Try whether body and output layer alone give the model's logits.

        They do for most families; some scale or cap their logits, and are projected whole.
        """
        import torch

        ids = torch.arange(min(4, self.model.get_input_embeddings().num_embeddings))[None]
        ids = ids.to(self.device)
        real = torch.ones_like(ids, dtype=torch.bool)
        try:
            with torch.inference_mode():
                apart = self.model.get_output_embeddings()(self._states(ids, real))
                whole = self._logits(ids, real)
        except (AttributeError, TypeError):
            return False
        return apart.shape == whole.shape and torch.allclose(apart, whole, atol=_PROBE)


def batches(lengths: Sequence[int], batch_tokens: int) -> list[list[int]]:
    """Return batches of indices, the longest first, each at most ``batch_tokens`` with padding.

    Args:
        lengths: tokens of each sentence.
        batch_tokens: bound; a longer sentence makes a batch of its own.
    """
    return list(_batches(lengths, batch_tokens))


def _batches(lengths: Sequence[int], batch_tokens: int) -> Iterator[list[int]]:
    batch: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        if batch and (len(batch) + 1) * lengths[batch[0]] > batch_tokens:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def _context(config: Any) -> int | None:  # noqa: ANN401 - every family has its own class
    for name in ("max_position_embeddings", "n_positions"):
        if isinstance(getattr(config, name, None), int):
            return getattr(config, name)
    return None


def _load(folder: Path) -> tuple[Any, Any]:
    if not (folder / "config.json").is_file():
        raise PoshgridError(f"{folder}: no model (config.json is missing); train it first")
    if not any((folder / name).is_file() for name in _TOKENIZER_FILES):
        # transformers would make up an empty tokenizer of the model's family.
        raise PoshgridError(
            f"{folder}: no tokenizer (tokenizer.json is missing); copy into the folder the "
            "tokenizer that the model was trained with"
        )
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        model, loading = AutoModelForCausalLM.from_pretrained(
            folder, local_files_only=True, output_loading_info=True
        )
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    # Each file format fails in its own way (safetensors, JSON, tensors of the wrong shape, ...).
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise PoshgridError(
            f"{folder}: cannot load the model ({reason}); delete the folder and train it again"
        ) from error
    missing = sorted(loading["missing_keys"])
    if missing:
        raise PoshgridError(
            f"{folder}: {len(missing)} weights are missing, e.g. {missing[0]}; "
            "delete the folder and train the model again"
        )
    _same_cuts(folder, tokenizer)
    return model, tokenizer


def _same_cuts(folder: Path, tokenizer: Any) -> None:  # noqa: ANN401
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
