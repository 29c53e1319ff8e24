"""Compiling the solver's kernels: their names tell the sources of this folder, which the cache's own digest leaves out."""

from __future__ import annotations

from pathlib import Path

from arena.bots.compiled.cache import Function, digest_of, kernel

DIGEST = digest_of(Path(__file__).parent)


def solver_kernel(function: Function, name: str) -> Function:
    """`function` compiled at its first call, or taken from the cache."""
    return kernel(function, f"solve-{name}-{DIGEST}")
