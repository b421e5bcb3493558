"""The factorial: ``configfile`` reads and checks a configuration, ``grid`` makes its runs."""
