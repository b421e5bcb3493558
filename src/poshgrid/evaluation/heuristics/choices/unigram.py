"""The sentence whose words are more frequent is the better one."""

SAYS = "prefers the more frequent words"
BASELINE = "unigram"
