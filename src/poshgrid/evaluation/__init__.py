"""What a model prefers: engines that score sentences, tasks, and the judgement of a pair.

``score`` asks the model, ``judgements`` says which member it prefers, and what a tie is.
"""
