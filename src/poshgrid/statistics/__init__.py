"""From judgements to conclusions: accuracies, tests, Bayesian models, deltas, curves, power.

``accuracy`` counts right pairs and tests them. ``fit`` fits a Bayesian model (``fast`` is our own
sampler) and ``contrasts`` compares levels of its factors. ``measures`` is for suites that are not
minimal pairs: paradigms, choices and completions.
"""
