"""What the numbers of a plan rest on."""

HOUR = 3600.0  # seconds
MEASURED, SCALED, ASSUMED = "measured", "scaled", "assumed"
"""Where a number comes from: jobs like it; smaller or larger ones; the stated table."""
BASES = (MEASURED, SCALED, ASSUMED)
REACH = 10.0
"""A job says nothing of one whose work, or whose model, is more than so many times its own."""
