"""Compilation of the solver's kernels (functions that are compiled to machine code).

The name of a kernel in the cache contains a digest of this folder's source files, so a change in any of these files
recompiles all kernels.
"""

from __future__ import annotations

from pathlib import Path

from arena.bots.compiled.cache import Function, compile_kernel, compute_sources_digest

SOURCES_DIGEST = compute_sources_digest(Path(__file__).parent)


def compile_solver_kernel(function: Function, kernel_name: str) -> Function:
    """Return `function` as a kernel: at its first call, it is compiled to machine code, or loaded from the cache.

    kernel_name  name of the kernel in the cache
    """
    return compile_kernel(function, f"solve-{kernel_name}-{SOURCES_DIGEST}")
