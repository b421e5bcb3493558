"""Before a run: whether all inputs exist, which jobs would run and why, time and disk space."""
