"""Which sentences models prefer: engines that score sentences, tasks, and judgements of pairs.

``score`` scores items with a model; ``judgements`` decides which member of a pair it prefers.
"""
