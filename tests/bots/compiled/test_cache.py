"""The cache of compiled code: reuse by other processes, changed sources, and folders that are not writable."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arena.bots.compiled import cache

PROGRAM = """
import os
import sys
import numpy as np
from arena.bots.compiled import cache
from arena.bots.compiled.cache import compile_kernel, inlined
from arena.bots.compiled.intrinsics import get
def make(n):
    @inlined
    def part(a): return get(a, n)
    def whole(a): return part(a) + n
    return compile_kernel(whole, f"whole{n}")
for folders in sys.argv[2:]:
    os.environ[cache.PRECOMPILED_FOLDERS_ENV_VARIABLE] = folders
    for n in range(1, int(sys.argv[1]) + 1):
        each = make(n)
        assert each(np.arange(5)) == 2 * n
        hits = sum(each.stats.cache_hits.values())
        print("hit" if hits else "compiled")
"""


def run(folder: Path, *made_before: tuple[Path, ...], kernels: int = 1, **given: str) -> list[str]:
    """Compile kernels in a new process, and return for each of them `hit` if it was found in a cache, or `compiled`.

    folder       cache folder of the process
    made_before  values of ARENA_KERNELS, lists of folders; all kernels are compiled once for each
    kernels      number of kernels
    given        further environment variables
    """
    named = [os.pathsep.join(map(str, folders)) for folders in made_before or [()]]
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(kernels), *named],
        env={**os.environ, "XDG_CACHE_HOME": str(folder), **given},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout.split()


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache folder with two kernels that were compiled for this processor."""
    folder = tmp_path_factory.mktemp("native")
    assert run(folder, kernels=2) == ["compiled", "compiled"]
    return folder


def test_a_second_process_finds_closures_over_intrinsics(native: Path) -> None:
    assert run(native, kernels=2) == ["hit", "hit"]


def test_kernels_compiled_for_this_processor_come_before_portable_ones(native: Path, tmp_path: Path) -> None:
    other, missing, moved = tmp_path / "any", tmp_path / "missing", tmp_path / "moved"
    assert run(other, NUMBA_CPU_NAME="generic") == ["compiled"]
    shutil.copytree(native, moved)
    assert run(tmp_path / "own", (moved,), (other,), (missing, other, moved)) == ["hit"] * 3
    assert kernels(tmp_path / "own") == set(), "what is found elsewhere is not copied"
    # Code for any processor is not read if there is code for this processor, so it may be broken.
    for file in cache.get_kernel_folder(other).glob("*.nbc"):
        file.write_bytes(b"")
    assert run(tmp_path / "own", (missing, other, moved)) == ["hit"]


def test_code_for_another_processor_is_not_used(tmp_path: Path) -> None:
    assert run(tmp_path / "other", NUMBA_CPU_NAME="nocona", NUMBA_CPU_FEATURES="") == ["compiled"]
    assert run(tmp_path / "own", (tmp_path / "other",)) == ["compiled"]
    assert len(kernels(tmp_path / "own")) == 1


def kernels(folder: Path) -> set[str]:
    """Return the contents of the files of compiled kernels in a cache, by file name."""
    return {file.name for file in folder.rglob("*.nbc")}


def test_the_folder_is_named_by_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert (
        cache.choose_writable_kernel_folder(cache.list_candidate_cache_folders())
        == tmp_path / "riskless-arena" / f"kernels-{cache.SOURCES_DIGEST}"
    )


def test_a_process_that_runs_during_an_upgrade_keeps_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = cache.get_kernel_folder(tmp_path)
    monkeypatch.setattr(Path, "read_bytes", lambda _path: b"other sources")
    assert cache.get_kernel_folder(tmp_path) == before


def test_the_first_writable_folder_is_used(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert cache.choose_writable_kernel_folder(
        [blocked, tmp_path / "own", tmp_path / "last"]
    ) == cache.get_kernel_folder(tmp_path / "own")
    assert not (tmp_path / "last").exists()


@pytest.mark.skipif(sys.prefix == sys.base_prefix, reason="not in a virtual environment")
def test_without_a_home_kernels_are_in_the_virtual_environment() -> None:
    code = "from arena.bots.compiled.cache import get_writable_kernel_folder; print(get_writable_kernel_folder())"
    environment = {**os.environ, "XDG_CACHE_HOME": "", "HOME": "/dev/null"}
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True, timeout=500
    )
    assert Path(result.stdout.strip()) == cache.get_kernel_folder(Path(sys.prefix) / "cache")


def test_without_a_writable_cache_a_new_folder_is_used(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    first, second = (
        cache.choose_writable_kernel_folder([blocked]),
        cache.choose_writable_kernel_folder([blocked]),
    )
    assert first != second
    assert first.stat().st_mode & 0o077 == 0
    first.rmdir()
    second.rmdir()
