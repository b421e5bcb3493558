"""SLURM: what the doctor compares, signals and requeueing."""
