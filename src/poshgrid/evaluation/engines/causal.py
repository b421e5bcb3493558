"""Causal models: log-probabilities of sentences, left to right, and continuations.

Sentences go through the model as a trie (:mod:`poshgrid.evaluation.trie`): a node attends to its
ancestors only (a four-dimensional attention mask), its position is its depth, and the context of
each token is projected to the vocabulary once, however many sentences share it. A model that does
not honour such masks and positions reads whole sentences in padded batches instead; which of the
two it is, is tried on each model as it is loaded, and so is whether padding changes its scores. The
scores are the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from poshgrid import logs
from poshgrid.errors import PoshgridError
from poshgrid.evaluation import cutting, trie
from poshgrid.evaluation.engine import Request, Score, logprobs
from poshgrid.evaluation.engines import probe

if TYPE_CHECKING:
    import torch

    from poshgrid.config import Scoring

log = logs.get(__name__)
ROW = 128  # nodes of a row: longer rows share little more and cost more attention
PROJECTED = 512  # contexts whose next-token scores are held at a time
WHOLE = 1_024  # nodes of a batch where a model's logits cannot be had for some contexts alone
PROBE = 1e-4  # largest difference between two ways to the same log-probability, nats
LENGTH_PENALTY = 1.0
DRAWN = {"top_k": 50, "top_p": 0.95}
"""Whence tokens are drawn, where they are: transformers' defaults of old, which BaBIEs names."""


class Causal:
    """A causal language model and its tokenizer, ready to score.

    Args:
        model: on its device, in evaluation mode, float32.
        tokenizer: the one that the model was trained with.
        scoring: ``bos`` true: the tokenizer's ``<bos>`` is the context of the first token, so that
            every token is scored; false: the first token is context only. ``batch_tokens`` bounds
            the nodes (padding included) of a forward pass; scores do not depend on it.
            ``precision`` bf16: the forward pass in bfloat16, the normalisation in float32.
            ``decoding_seed``: what is written is drawn; see :meth:`complete`.
        name: what an error message calls the model.
    """

    def __init__(self, model: Any, tokenizer: Any, scoring: Scoring, *, name: str) -> None:  # noqa: ANN401
        self.model, self.tokenizer, self.name = model, tokenizer, name
        self.bos, self.batch_tokens = scoring.bos, scoring.batch_tokens
        self.seed = scoring.decoding_seed
        self.device = model.device.type
        self.passed = 0  # nodes that went through the model, padding included
        self.context = probe.context(model)
        self.bos_id = tokenizer.bos_token_id
        self.writes = hasattr(model, "generate") and model.can_generate()
        self.separate, self.shares, self.bf16 = False, False, False
        self.separate = self._can_separate()
        ids = probe.spread(model, 6)
        self.batching = probe.batching(self._tried, ids, self.context or len(ids) * 4)
        self.shares = self._can_share(ids)
        self.bf16, self.passed = scoring.precision == "bf16", 0
        log.debug("%s: batches %s, shares %s", name, self.batching, self.shares)

    def score(self, requests: Sequence[Request], *, per_token: bool = False) -> list[Score]:
        """Score sentences; see :class:`poshgrid.evaluation.engine.Engine`."""
        cuts = cutting.cut(self.tokenizer, requests, special=False)
        rows = [self._row(cut.ids, request) for cut, request in zip(cuts, requests, strict=True)]
        cutting.check_lengths(requests, list(map(len, rows)), self.context, self.name)
        found = self.logprobs(rows)
        context_only = [] if self.bos else [None]
        return [
            cutting.total(
                request,
                cut.region,
                [*context_only, *values.tolist()],
                self.tokenizer.convert_ids_to_tokens(cut.ids) if per_token else (),
            )
            for request, cut, values in zip(requests, cuts, found, strict=True)
        ]

    def complete(self, prompts: Sequence[str], *, beams: int, tokens: int) -> list[str]:
        """Continue sentences by beam search (transformers' ``generate``).

        A hypothesis is worth the sum of its log-probabilities divided by its length (length penalty
        1); the search goes on until no open hypothesis can become better than the finished ones. It
        may end before ``tokens``, at the model's end-of-sequence token. Prompts of equal length are
        continued together, so that none is padded.

        With a seed, beams go on with tokens drawn from the likeliest (:data:`DRAWN`; Capone et al.,
        2024), each prompt alone and from a state of its own: what a prompt is continued by depends
        on the seed and on it, not on the other prompts.

        Args:
            prompts: beginnings of sentences, without ``<bos>``, which is put before them if
                ``bos`` is true.
            beams: hypotheses kept at each step.
            tokens: new tokens of each continuation, at most.

        Returns:
            The new text alone, in the order of ``prompts``.

        Raises:
            PoshgridError: the model writes nothing, or a prompt is empty or too long for it.
        """
        import torch
        from transformers import GenerationConfig

        if not self.writes:
            raise PoshgridError(f"{self.name}: this model writes nothing; leave it out")
        requests = [Request(prompt, f"prompt {prompt!r}") for prompt in prompts]
        cuts = cutting.cut(self.tokenizer, requests, special=False)
        rows = [self._prompt(cut.ids, request) for cut, request in zip(cuts, requests, strict=True)]
        whole = [r._replace(name=f"{r.name} and {tokens} to follow") for r in requests]
        cutting.check_lengths(whole, [len(row) + tokens for row in rows], self.context, self.name)
        end = self.tokenizer.eos_token_id
        padding = self.tokenizer.pad_token_id
        settings = GenerationConfig(
            num_beams=beams,
            max_new_tokens=tokens,
            do_sample=self.seed is not None,
            **(DRAWN if self.seed is not None else {}),
            early_stopping=False,
            length_penalty=LENGTH_PENALTY,
            eos_token_id=end,
            pad_token_id=next((i for i in (padding, end) if i is not None), 0),
        )
        self.model.generation_config = settings  # what the folder says would fill the gaps
        written = [""] * len(rows)
        for length in sorted({len(row) for row in rows}):
            same = [i for i, row in enumerate(rows) if len(row) == length]
            size = max(1, self.batch_tokens // ((length + tokens) * beams))
            size = 1 if self.seed is not None else size
            for first in range(0, len(same), size):
                batch = same[first : first + size]
                ids = torch.tensor([rows[i] for i in batch], device=self.device)
                with torch.inference_mode(), self._autocast(), self._drawing(prompts[batch[0]]):
                    found = self.model.generate(
                        ids, attention_mask=torch.ones_like(ids), generation_config=settings
                    )
                for i, new in zip(batch, found[:, length:].tolist(), strict=True):
                    written[i] = self.tokenizer.decode(
                        new, skip_special_tokens=True, clean_up_tokenization_spaces=False
                    )
        return written

    @contextmanager
    def _drawing(self, prompt: str) -> Iterator[None]:
        """Draw from a state that the seed and the prompt decide, if anything is drawn."""
        import torch

        if self.seed is None:
            yield
            return
        digest = hashlib.sha256(f"{self.seed} {prompt}".encode()).digest()
        devices = [torch.cuda.current_device()] if self.device == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(int.from_bytes(digest[:8], "big") >> 1)
            yield

    def _row(self, ids: list[int], request: Request) -> list[int]:
        row = [self.bos_id, *ids] if self.bos else ids
        if len(row) < 2:
            raise PoshgridError(
                f"{request.name}: {request.text!r} has {len(ids)} tokens, so that none can be "
                "scored"
                + ("" if self.bos or not ids else " without <bos>; set scoring.bos to true")
            )
        return row

    def _prompt(self, ids: list[int], request: Request) -> list[int]:
        if not ids:
            raise PoshgridError(f"{request.name} has no tokens; mend the item")
        return [self.bos_id, *ids] if self.bos else ids

    def logprobs(self, sentences: Sequence[list[int]]) -> list[np.ndarray]:
        """Return the log-probability of every token but the first, for each sentence."""
        bound = self.batch_tokens if self.separate else min(self.batch_tokens, WHOLE)
        bound = 1 if self.batching == "one" else bound
        packed = trie.build(sentences, min(ROW, bound), share=self.shares)
        found = np.zeros(packed.size)
        lengths = [len(row.ids) for row in packed.rows]
        work = trie.batches(lengths, bound, equal=self.batching != "any")
        for batch in logs.progress(work, "scoring"):
            self._batch([packed.rows[i] for i in batch], found)
        return [found[edges] for edges in packed.edges]

    def _batch(self, rows: list[trie.Row], found: np.ndarray) -> None:
        """Score the edges of rows that go through the model together, the longest row first."""
        import torch

        longest = len(rows[0].ids)
        self.passed += longest * len(rows)
        ids, depth, end = (np.zeros((len(rows), longest), np.int64) for _ in range(3))
        for i, row in enumerate(rows):
            size = len(row.ids)
            ids[i, :size], depth[i, :size], end[i, :size] = row.ids, row.depth, row.end
        contexts = np.concatenate(
            [i * longest + np.array(row.contexts, np.int64) for i, row in enumerate(rows)]
        )
        targets = np.concatenate([np.array(row.targets, np.int64) for row in rows])
        numbers = np.concatenate([row.first + np.arange(len(row.targets)) for row in rows])
        order = np.argsort(contexts, kind="stable")
        nodes, owner = np.unique(contexts[order], return_inverse=True)
        with torch.inference_mode(), self._autocast():
            states, head = self._states(*map(torch.from_numpy, (ids, depth, end)))
            values = _project(
                states.flatten(0, 1), head, nodes, owner, torch.from_numpy(targets[order])
            )
        found[numbers[order]] = values.cpu().numpy()

    def _states(
        self, ids: torch.Tensor, depth: torch.Tensor, end: torch.Tensor
    ) -> tuple[torch.Tensor, Any]:
        """Return a state of each node and what makes logits of states."""
        import torch

        given: dict[str, torch.Tensor] = {"input_ids": ids.to(self.device)}
        end = end.to(self.device)
        if self.shares:
            given["attention_mask"] = _ancestors(end)
            given["position_ids"] = depth.to(self.device)
        else:  # padding stands to the right, where a causal model cannot see it
            given["attention_mask"] = (end > 0).long()
        if not self.separate:
            return self.model(**given, use_cache=False).logits, torch.nn.Identity()
        found = self.model.base_model(**given, use_cache=False).last_hidden_state
        return found, self.model.get_output_embeddings()

    def _autocast(self) -> torch.autocast:
        import torch

        return torch.autocast(self.device, torch.bfloat16, enabled=self.bf16)

    def _can_separate(self) -> bool:
        """Try whether body and output layer alone give the model's logits.

        They do for most families; some scale or cap their logits, and are projected whole.
        """
        import torch

        ids = torch.tensor([probe.spread(self.model, 4)], device=self.device)
        given = {"attention_mask": torch.ones_like(ids), "use_cache": False}
        try:
            with torch.inference_mode():
                states = self.model.base_model(input_ids=ids, **given).last_hidden_state
                apart = self.model.get_output_embeddings()(states)
                whole = self.model(input_ids=ids, **given).logits
        except (AttributeError, TypeError):
            return False
        return apart.shape == whole.shape and torch.allclose(apart, whole, atol=PROBE, rtol=0)

    def _can_share(self, ids: Sequence[int]) -> bool:
        """Try whether the trie gives the log-probabilities of whole sentences.

        The branches stand far apart in the row, so that a model that takes positions from the row,
        or looks past the mask, is found out; the second row is padded.
        """
        if _windows(self.model.config):  # a mask of ours would undo theirs
            return False
        a, b, c, d, e, f = ids
        sentences = [[a, b, c, d, e], [a, b, d, c, f], [a, c, b, e, d, f], [a, f, e, d]]
        plain = [self._tried([sentence])[0] for sentence in sentences]
        self.shares = True
        try:
            shared = self._tried(sentences)
        except (TypeError, ValueError, RuntimeError, IndexError, AttributeError):
            return False  # the family takes no such mask or positions
        finally:
            self.shares = False
        return bool(np.all(np.abs(np.concatenate(plain) - np.concatenate(shared)) <= PROBE))

    def _tried(self, sentences: Sequence[list[int]]) -> list[np.ndarray]:
        """Return what :meth:`logprobs` does, of one batch of short rows."""
        packed = trie.build(sentences, 12 if self.shares else 1, share=self.shares)
        found = np.zeros(packed.size)
        self._batch(sorted(packed.rows, key=lambda row: -len(row.ids)), found)
        return [found[edges] for edges in packed.edges]


def _project(
    states: torch.Tensor,
    head: Any,  # noqa: ANN401 - whatever module makes logits
    nodes: np.ndarray,
    owner: np.ndarray,
    targets: torch.Tensor,
) -> torch.Tensor:
    """Return the log-probability of each edge, float64.

    Args:
        states: of all nodes.
        head: makes logits of states.
        nodes: contexts, each once.
        owner: for each edge, which of ``nodes`` it leaves; ascending.
        targets: token of each edge.
    """
    import torch

    parts = []
    targets = targets.to(states.device)
    for first in range(0, len(nodes), PROJECTED):
        low, high = np.searchsorted(owner, [first, first + PROJECTED])
        chosen = torch.from_numpy(nodes[first : first + PROJECTED]).to(states.device)
        whose = torch.from_numpy(owner[low:high] - first).to(states.device)
        parts.append(logprobs(head(states[chosen]), whose, targets[low:high]))
    return torch.cat(parts)


def _ancestors(end: torch.Tensor) -> torch.Tensor:
    """Return the mask of a batch of rows, (rows, 1, nodes, nodes): 0 or the lowest float.

    A node sees its ancestors and itself; so does padding, which nobody sees.
    """
    import torch

    node = torch.arange(end.shape[1], device=end.device)
    seen = (node[None, :] < node[:, None]) & (node[:, None] < end[:, None, :])
    seen |= node[None, :] == node[:, None]
    mask = torch.zeros(seen.shape, device=end.device)
    return mask.masked_fill_(~seen, torch.finfo(torch.float32).min)[:, None]


def _windows(config: Any) -> bool:  # noqa: ANN401
    """Say whether layers see a window of the text, or are of different kinds."""
    kinds = set(getattr(config, "layer_types", None) or []) | set(
        getattr(config, "attention_layers", None) or []
    )
    others = kinds - {"full_attention", "global"}
    return bool(others or (not kinds and getattr(config, "sliding_window", None)))
