"""Tables of all rooms: described once, written as CSV and LaTeX."""
