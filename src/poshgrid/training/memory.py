"""Memory of the processor: what a step frees is kept for the next one."""

from __future__ import annotations

import ctypes

_MAPPED = -4  # M_MMAP_MAX of <malloc.h>: blocks that are taken from the system one by one
_TRIM = -1  # M_TRIM_THRESHOLD: free memory at the end of the heap that is given back


def reuse() -> bool:
    """Keep freed memory for the next large tensor, for the rest of the process.

    The C library of Linux gives every block of more than 32 MB back to the system as soon as it is
    free, and gets it anew page by page, each of them zeroed first. A training step frees and takes
    the same large blocks again and again.

    Returns:
        Whether this C library could be told; if not, training is only slower.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # no glibc: macOS, musl, Windows
        return False
    return all([mallopt(_MAPPED, 0) == 1, mallopt(_TRIM, -1) == 1])
