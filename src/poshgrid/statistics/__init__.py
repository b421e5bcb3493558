"""From judgements to conclusions: accuracies, tests, Bayesian models, deltas, curves, power.

``accuracy`` counts and tests, ``fit`` draws from a model (``fast`` is our sampler), ``contrasts``
are its conclusions; what the measures of a study add is in ``measures``.
"""
