"""SLURM: the doctor and its probe, what a profile asks for, patient submission, orphans."""
