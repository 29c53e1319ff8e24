"""`python -m arena.bots.compiled` and `python -m arena.lab.solving` compile all kernels, so a second run compiles none."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from arena.bots.compiled.cache import get_kernel_folder, get_writable_kernel_folder


def compile_kernels(module: str, cache: Path) -> dict[str, int]:
    """Run the module with the cache folder `cache`. Return the modification time of each kernel's file, in ns."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    words = [sys.executable, "-m", module]
    result = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    return {path.name: path.stat().st_mtime_ns for path in get_kernel_folder(cache).glob("*.nbc")}


SEARCHED = ("tictactoe", "riskless4", "riskless6", "riskless8")


@pytest.mark.parametrize(
    ("module", "kernels"),
    [("arena.bots.compiled", [f"search-{game}." for game in SEARCHED]), ("arena.lab.solving", ["solve-"])],
)
def test_a_second_run_finds_everything_compiled(module: str, kernels: list[str], tmp_path: Path) -> None:
    get_kernel_folder(tmp_path).mkdir(parents=True)
    for path in get_writable_kernel_folder().glob(
        "*.nb[ci]"
    ):  # copy the kernels that are already compiled, to save time
        with suppress(FileNotFoundError):  # another process may just have replaced the file
            shutil.copy2(path, get_kernel_folder(tmp_path))
    first = compile_kernels(module, tmp_path)
    for kernel in kernels:
        assert any(name.startswith(kernel) for name in first), kernel
    assert compile_kernels(module, tmp_path) == first
