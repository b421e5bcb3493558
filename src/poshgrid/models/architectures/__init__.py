"""Architectures: one module for each kind of neural model.

``build(options, vocabulary, *, context_length, dropout, seed)`` returns a model of transformers
with seeded weights; its own ``forward`` has the training loss. A model of masked tokens declares
``OBJECTIVE = "masked"``, and its options are those of :class:`babyberta.Masking`. One that learns
both declares ``OBJECTIVE = "hybrid"``; its options are those of :class:`babyberta.Hiding` and a
``causal_share``.
"""
