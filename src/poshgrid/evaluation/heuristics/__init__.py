"""Heuristics: simple rules that could explain which member of a pair a model prefers.

Each heuristic is a module of :mod:`poshgrid.evaluation.heuristics.choices`. It gets a pair without
knowing which member is grammatical, and prefers one member or does not decide. Some heuristics
stand for the hypothesis that models have hierarchical structure (``HIERARCHICAL``).
"""
