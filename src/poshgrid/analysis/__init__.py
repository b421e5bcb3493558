"""Results as polars frames: ``poshgrid.open("results/tiny")``."""
