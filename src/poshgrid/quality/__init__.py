"""Checks of suites: faults of pairs, differences in length and frequency, baselines, and a page."""
