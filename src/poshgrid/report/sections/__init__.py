"""The sections of the page, a module each: what stands there, where, and for whom."""
