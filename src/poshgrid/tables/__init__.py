"""Tables of all rooms: described once, written as CSV, LaTeX, Markdown and HTML."""
