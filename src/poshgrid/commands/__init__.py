"""The command line: one module for each room, which parses options and calls that room."""
