"""Tests of a sentence's words, for filters whose module would be too long with them."""
