"""The gate of suites: faults of pairs, what words alone give away, baselines, and its page."""
