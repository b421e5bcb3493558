"""Before a run: whether all inputs exist, which jobs would run and why, time and disk space.

Also for SLURM: what a cluster allows (``doctor``), jobs that it stops (``slurm``).
"""
