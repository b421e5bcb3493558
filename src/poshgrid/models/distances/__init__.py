"""Distances between the words of a sentence in its tree, for the training of tree biases."""
