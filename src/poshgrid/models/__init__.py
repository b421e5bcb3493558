"""Architectures by their config words, and the baselines that count n-grams."""
