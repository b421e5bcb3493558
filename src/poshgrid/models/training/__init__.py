"""Training: rows of tokens, the loop and its schedule, checkpoints, and the interface of biases.

``loop`` trains and resumes; a bias is a module of :mod:`poshgrid.models.biases`.
"""
