"""Dependency trees: parsers and their training, treebanks, tokenization into words."""
