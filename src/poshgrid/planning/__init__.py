"""Before a run: is all there, what would run again and why, how long it takes and what it costs."""
