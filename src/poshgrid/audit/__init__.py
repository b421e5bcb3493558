"""Sheets of sentences and pairs that people judge, and what their labels say."""
