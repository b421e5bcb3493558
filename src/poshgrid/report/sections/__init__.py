"""The sections of the page, a module each: what stands there, where, and for whom.

A module has ``TITLE``, ``ORDER``, ``AUDIENCE`` (reader: open; reviewer, engineer: opened on demand)
and ``write(page)``, which writes tables and figures and returns what its template, the ``.html``
file beside it, needs, or ``None``: no section.
"""
