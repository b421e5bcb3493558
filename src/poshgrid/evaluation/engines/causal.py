"""Causal models: log-probabilities of sentences, left to right, and continuations.

Sentences go through the model as a trie (:mod:`poshgrid.evaluation.trie`): a node attends to its
ancestors only (a four-dimensional attention mask), its position is its depth, and each context is
projected to the vocabulary once, even if several sentences share it. A model that ignores such
masks or positions reads whole sentences in padded batches instead. Each model is tested when it is
loaded: whether it can use the trie, and whether padding changes its scores. Both ways give the same
scores.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from poshgrid.core import logs
from poshgrid.core.errors import PoshgridError
from poshgrid.evaluation import trie
from poshgrid.evaluation.engine import Request, Score, check_lengths, tokenize, total
from poshgrid.evaluation.engines.neural import PROBE, Neural

if TYPE_CHECKING:
    from poshgrid.config import Scoring

log = logs.get(__name__)
ROW = 128  # nodes in a row: longer rows share little more and cost more attention
LENGTH_PENALTY = 1.0
SAMPLING = {"top_k": 50, "top_p": 0.95}
"""Settings for sampled tokens: former defaults of transformers, which BaBIEs used."""


class Causal(Neural):
    """A causal language model and its tokenizer, ready to score.

    It uses two keys of ``scoring``. With ``bos``, the tokenizer's ``<bos>`` is the context of the
    first token, so that every token is scored; without, the first token is only context. With
    ``decoding_seed``, generated tokens are sampled; see :meth:`complete`.
    """

    def __init__(self, model: Any, tokenizer: Any, scoring: Scoring, *, name: str) -> None:  # noqa: ANN401
        self.shares = False
        super().__init__(model, tokenizer, scoring, name=name)
        self.bos, self.seed = scoring.bos, scoring.decoding_seed
        self.bos_id = tokenizer.bos_token_id
        self.writes = hasattr(model, "generate") and model.can_generate()
        self.shares = self._can_share(self.ids)

    def score(self, requests: Sequence[Request]) -> list[Score]:
        """Score sentences; see :class:`poshgrid.evaluation.engine.Engine`."""
        cuts = tokenize(self.tokenizer, requests, special=False)
        rows = [[self.bos_id, *cut.ids] if self.bos else cut.ids for cut in cuts]
        for row, cut, request in zip(rows, cuts, requests, strict=True):
            if len(row) < 2:
                remedy = "" if self.bos or not cut.ids else "; set scoring.bos to true"
                raise PoshgridError(
                    f"{request.name}: {request.text!r} has {len(cut.ids)} tokens, so that none can "
                    f"be scored{remedy}"
                )
        check_lengths(requests, list(map(len, rows)), self.context, self.name)
        logprobs = self.logprobs(rows)
        context_only = [] if self.bos else [None]
        return [
            total(request, cut.region, [*context_only, *values.tolist()])
            for request, cut, values in zip(requests, cuts, logprobs, strict=True)
        ]

    def complete(self, prompts: Sequence[str], *, beams: int, tokens: int) -> list[str]:
        """Continue sentences by beam search (transformers' ``generate``).

        The score of a hypothesis is the sum of its log-probabilities divided by its length (length
        penalty 1); the search ends when no open hypothesis can become better than the finished
        ones. A hypothesis may have fewer than ``tokens`` tokens if it ends with the model's
        end-of-sequence token. Each prompt is continued by itself, without padding.

        With a seed, beams continue with tokens sampled from the likeliest (:data:`SAMPLING`; Capone
        et al., 2024). The random state depends only on the seed and the prompt, so that other
        prompts do not change a continuation.

        Args:
            prompts: beginnings of sentences, without ``<bos>``, which is added if ``bos`` is true.
            beams: number of hypotheses at each step.
            tokens: largest number of new tokens in each continuation.

        Returns:
            The new text without the prompt, in the order of ``prompts``.

        Raises:
            PoshgridError: a prompt is empty or too long for the model.
        """
        from transformers import GenerationConfig

        requests = [Request(prompt, f"prompt {prompt!r}") for prompt in prompts]
        cuts = tokenize(self.tokenizer, requests, special=False)
        if empty := next((r for r, cut in zip(requests, cuts, strict=True) if not cut.ids), None):
            raise PoshgridError(f"{empty.name} has no tokens; correct the item")
        rows = [[self.bos_id, *cut.ids] if self.bos else cut.ids for cut in cuts]
        whole = [r._replace(name=f"{r.name} and {tokens} to follow") for r in requests]
        check_lengths(whole, [len(row) + tokens for row in rows], self.context, self.name)
        sampled = self.seed is not None
        end, padding = self.tokenizer.eos_token_id, self.tokenizer.pad_token_id
        settings = GenerationConfig(
            num_beams=beams,
            max_new_tokens=tokens,
            do_sample=sampled,
            **(SAMPLING if sampled else {}),
            early_stopping=False,
            length_penalty=LENGTH_PENALTY,
            eos_token_id=end,
            pad_token_id=next((i for i in (padding, end) if i is not None), 0),
        )
        self.model.generation_config = settings  # the folder's would fill in settings left out here
        written = []
        for prompt, row in zip(prompts, rows, strict=True):
            ids = torch.tensor([row], device=self.device)
            with torch.inference_mode(), self._random_state(prompt):
                (output,) = self.model.generate(
                    ids, attention_mask=torch.ones_like(ids), generation_config=settings
                )
            new = output[len(row) :].tolist()
            text = self.tokenizer.decode(
                new, skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
            written.append(text)
        return written

    @contextmanager
    def _random_state(self, prompt: str) -> Iterator[None]:
        """Set a random state that depends only on the seed and the prompt; restore it after."""
        digest = hashlib.sha256(f"{self.seed} {prompt}".encode()).digest()
        devices = [torch.cuda.current_device()] if self.device == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(int.from_bytes(digest[:8], "big") >> 1)
            yield

    def logprobs(self, sentences: Sequence[list[int]]) -> list[np.ndarray]:
        """Return the log-probability of every token except the first, for each sentence."""
        packed = trie.build(sentences, min(ROW, self.bound), share=self.shares)
        lengths = [len(row.ids) for row in packed.rows]
        work = trie.batches(lengths, self.bound)
        return self._scored(packed, logs.progress(work, "scoring"))

    def _in_one_batch(self, sentences: Sequence[list[int]]) -> list[np.ndarray]:
        """Return log-probabilities as :meth:`logprobs`, computed in one batch of short rows."""
        packed = trie.build(sentences, 12 if self.shares else 1, share=self.shares)
        order = sorted(range(len(packed.rows)), key=lambda i: -len(packed.rows[i].ids))
        return self._scored(packed, [order])

    def _scored(self, packed: trie.Trie, work: Iterable[list[int]]) -> list[np.ndarray]:
        """Score the edges of a trie in batches of its rows; a batch begins with its longest row."""
        logprobs = np.zeros(packed.size)
        for batch in work:
            rows = [packed.rows[i] for i in batch]
            longest = len(rows[0].ids)
            ids, depth, end = (np.zeros((len(rows), longest), np.int64) for _ in range(3))
            for i, row in enumerate(rows):
                size = len(row.ids)
                ids[i, :size], depth[i, :size], end[i, :size] = row.ids, row.depth, row.end
            contexts = np.concatenate(
                [i * longest + np.array(row.contexts) for i, row in enumerate(rows)]
            )
            targets = np.concatenate([row.targets for row in rows])
            numbers = np.concatenate([row.first + np.arange(len(row.targets)) for row in rows])
            inputs: dict[str, torch.Tensor] = {"input_ids": torch.from_numpy(ids).to(self.device)}
            ends = torch.from_numpy(end).to(self.device)
            if self.shares:
                inputs["attention_mask"] = _ancestors(ends)
                inputs["position_ids"] = torch.from_numpy(depth).to(self.device)
            else:  # padding is on the right, where a causal model cannot see it
                inputs["attention_mask"] = (ends > 0).long()
            logprobs[numbers] = self.project(contexts, targets, **inputs, use_cache=False)
        return [logprobs[edges] for edges in packed.edges]

    def _heads(self) -> list[Any]:
        return [self.model.get_output_embeddings()]

    def _can_share(self, ids: Sequence[int]) -> bool:
        """Test whether the trie gives the same log-probabilities as whole sentences.

        The branches are far apart in the row, which reveals a model that takes positions from the
        row or ignores the mask; the second row is padded.
        """
        if _has_windows(self.model.config):  # our mask would replace the model's own
            return False
        a, b, c, d, e, f = ids
        sentences = [[a, b, c, d, e], [a, b, d, c, f], [a, c, b, e, d, f], [a, f, e, d]]
        plain = [self._in_one_batch([sentence])[0] for sentence in sentences]
        self.shares = True
        try:
            shared = self._in_one_batch(sentences)
        except (TypeError, ValueError, RuntimeError, IndexError, AttributeError):
            return False  # the family does not accept such masks or positions
        finally:
            self.shares = False
        return bool(np.all(np.abs(np.concatenate(plain) - np.concatenate(shared)) <= PROBE))


def _ancestors(end: torch.Tensor) -> torch.Tensor:
    """Return the mask of a batch of rows, (rows, 1, nodes, nodes): 0 or the lowest float.

    A node sees its ancestors and itself. Padding sees itself, and no node sees padding.
    """
    node = torch.arange(end.shape[1], device=end.device)
    seen = (node[None, :] < node[:, None]) & (node[:, None] < end[:, None, :])
    seen |= node[None, :] == node[:, None]
    mask = torch.zeros(seen.shape, device=end.device)
    return mask.masked_fill_(~seen, torch.finfo(torch.float32).min)[:, None]


def _has_windows(config: Any) -> bool:  # noqa: ANN401
    """Return whether some layers see only a window of the text, or are of an unknown kind."""
    kinds = set(getattr(config, "layer_types", None) or []) | set(
        getattr(config, "attention_layers", None) or []
    )
    others = kinds - {"full_attention", "global"}
    return bool(others or (not kinds and getattr(config, "sliding_window", None)))
