"""Heuristics: simple rules that could explain which member of a pair a model prefers.

Each heuristic is a module of :mod:`poshgrid.rules.rivals`. It sees a pair without knowing which
member is grammatical, and says which one it prefers or that it has no say. Some of them stand for
the hypothesis that models have hierarchical structure (``HIERARCHICAL``).
"""
