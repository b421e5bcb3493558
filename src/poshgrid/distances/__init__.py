"""Distances between the words of a sentence, which tree biases are trained on."""
