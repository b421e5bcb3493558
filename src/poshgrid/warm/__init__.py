"""Processes that have the libraries loaded, from which local jobs are forked."""
