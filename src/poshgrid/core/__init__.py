"""What every room stands on: files, errors, logs, plug-ins, tables, and records of results.

``manifest`` records what a stage wrote, ``fingerprint`` the code that it ran, ``lock`` who writes,
``adopt`` keeps the last outputs of costly stages, ``verification`` checks a file before it is used,
and ``verify`` walks over all results. ``columns``, ``formats``, ``table``, ``terminal`` and
``words`` say how tables and numbers are written.
"""
