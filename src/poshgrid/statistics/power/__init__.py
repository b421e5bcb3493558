"""What a grid can show, before a model of it is trained: effects, and how often they are found.

Judgements are simulated from the model that will be fitted (:mod:`.simulation`), with spreads from
a stated source (:mod:`.components`), and decided on as the report decides: a contrast by whether
its interval leaves 0 out (:mod:`.contrasts`, with the posterior of :mod:`.approximation`, which
:mod:`.check` holds to the engine's), a phenomenon by whether it is learned (:mod:`.learned`).
"""
