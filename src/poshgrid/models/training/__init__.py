"""Training: rows of tokens, the loop, schedule, checkpoints and resuming, and biases as plug-ins.

``loop`` steps and resumes; a bias is a module of :mod:`poshgrid.models.biases`.
"""
