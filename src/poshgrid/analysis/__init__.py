"""Read results as polars frames: ``poshgrid.open("results/tiny")``."""
