"""The sentence whose sequences of function words and word endings are more frequent is better."""

SAYS = "prefers the more frequent sequences of function words and word endings"
BASELINE = "class_ngram"
