"""Architectures: one module for each kind of neural model.

``build(options, vocabulary, *, context_length, dropout, seed)`` returns a model of transformers
with seeded weights; its own ``forward`` has the training loss. A module may declare ``OBJECTIVE``:

* ``"masked"``: it predicts masked tokens. Its options include those of :class:`babyberta.Masking`.
* ``"hybrid"``: it predicts masked tokens and next tokens. Its options include those of
  :class:`babyberta.Hiding` and a ``causal_share``.
"""
