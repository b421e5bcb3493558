"""The factorial: the runs of a configuration, and the files that belong to them.

``configfile`` reads and checks a configuration, ``grid`` makes its runs, ``inputs`` names the files
of stages.
"""
