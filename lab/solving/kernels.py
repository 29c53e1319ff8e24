"""Compilation of the solver's kernels.

The names of the kernels contain a digest of this folder's sources, which the cache's own digest omits.
"""

from __future__ import annotations

from pathlib import Path

from arena.bots.compiled.cache import Function, digest_of, kernel

DIGEST = digest_of(Path(__file__).parent)


def solver_kernel(function: Function, name: str) -> Function:
    """Return `function` as a kernel that is compiled at its first call, or loaded from the cache."""
    return kernel(function, f"solve-{name}-{DIGEST}")
