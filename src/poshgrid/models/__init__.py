"""Architectures by their config words, and the nulls that count n-grams."""
