"""Heuristics: simple heuristics that could explain which member of a pair a model prefers.

Each heuristic is a module of :mod:`poshgrid.heuristics.choices`. It sees a pair without knowing
which member is grammatical, and says which one it prefers or that it has no say. Some of them
stand for the hypothesis that models have hierarchical structure (``HIERARCHICAL``).
"""
