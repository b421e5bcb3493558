"""Dependency trees: the parsers and their training, treebanks, labels."""
