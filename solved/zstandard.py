"""Zstandard, from Python's standard library or from its backport to older versions."""

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["zstd"]
