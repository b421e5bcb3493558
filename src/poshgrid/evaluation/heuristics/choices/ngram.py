"""The sentence whose word sequences are more frequent is the better one."""

SAYS = "prefers the more frequent word sequences"
BASELINE = "ngram"
