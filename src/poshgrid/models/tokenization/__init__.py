"""Tokenizers and their training, token files, and the sweep over vocabulary sizes."""
