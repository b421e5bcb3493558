"""The command line: one module for each group of commands, which parses options and calls rooms."""
