"""What every room stands on: files, errors, logs, plug-ins, tables, and records of results.

``manifest`` records what a stage wrote and walks over all results, ``fingerprint`` digests the code
that a job runs and files that no job writes, ``lock`` says who writes, ``adopt`` keeps the last
outputs of costly stages, and ``verification`` checks a file before it is used. ``columns``,
``formats``, ``table`` and ``writing`` say how tables and numbers are written, ``logs`` what is
printed.
"""
