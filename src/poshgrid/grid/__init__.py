"""The factorial: which runs a configuration asks for, and what each job is told.

``configfile`` reads and checks, ``grid`` multiplies out, ``slices`` gives a job its part of the
configuration, ``inputs`` its files; ``workflow`` is what rule files ask.
"""
