"""The gate of suites: faults of pairs, what words alone give away, nulls, and its page."""
