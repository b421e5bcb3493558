"""Checks of suites: faults of their pairs, and baselines that count words.

``audit`` draws sentences for people to label, and reads the labels back.
"""
