"""Models, items and tables in the forms of others: the Hub, lm-evaluation-harness, CSV packages."""
