"""Checks of suites: faults of pairs, differences in length and frequency; models on own pairs.

``audit`` draws sentences for people to label, and reads the labels back.
"""
