"""Before a run: whether all inputs exist, which jobs would run and why, time and disk space.

That a job runs again after a cluster stopped it (``slurm``), and what a cluster allows (``doctor``).
"""
