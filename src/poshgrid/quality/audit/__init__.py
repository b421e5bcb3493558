"""Sheets of sentences that people judge, and the rates from their labels."""
