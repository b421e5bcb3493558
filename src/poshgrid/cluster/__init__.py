"""SLURM: checks of a profile, signals and requeueing."""
