"""Rules as rivals: simple rules that could explain which member of a pair a model prefers.

Each rule is a module of :mod:`poshgrid.rules.rivals`. It sees a pair without knowing which member
is grammatical, and says which one it prefers or that it has no say. The hypothesis that learners
have hierarchical rules is some of these rules among the others (``HIERARCHICAL``).
"""
