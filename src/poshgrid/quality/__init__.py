"""Checks of suites: faults of pairs, differences in length and frequency; models on own pairs."""
