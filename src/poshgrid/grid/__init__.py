"""The factorial: which runs a configuration asks for, and what belongs to them.

``configfile`` reads and checks, ``grid`` multiplies out, ``inputs`` names the files of stages.
"""
