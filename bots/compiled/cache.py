"""Compilation of kernels (functions compiled to machine code), and a cache of the compiled code on disk.

numba's own cache does not work for these kernels, which are closures over functions in other files: numba notices changes
only in the file of the outermost function. And it identifies a function by the content of its closure, which differs
between processes if it contains another compiled function or an intrinsic.

Therefore the name of the cache folder is a digest of all sources of this package, and a kernel in this folder is
identified by its name alone. The name of another package's kernel includes a digest of that package's sources
(`compute_sources_digest`).

Compiled code is for one processor model. A process looks for the code of a kernel in these places, in this order:
- its own cache, for code for its own processor model;
- the folders that the environment variable ARENA_KERNELS lists, for the same; the process does not write to them;
- the same folders, for code for any processor (NUMBA_CPU_NAME=generic), which is some 25 % slower.

If there is no code, the process compiles the kernel.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import caching
from numba.extending import register_jitable

if sys.platform != "win32":
    import fcntl

Function = TypeVar("Function", bound=Callable[..., Any])

# as Any, because the type stubs lack members that this module uses
_njit: Any = numba.njit
_caching: Any = caching
_register_jitable: Any = register_jitable


def inlined(function: Function) -> Function:
    """Return `function` in a form that is inlined into each kernel (compiled function) that calls it."""
    return cast("Function", _register_jitable(forceinline=True, _nrt=False)(function))


PRECOMPILED_FOLDERS_ENV_VARIABLE = "ARENA_KERNELS"
"""Environment variable with folders of precompiled functions, separated by colons (on Windows by semicolons)."""

GENERIC_PROCESSOR_MODEL_AND_FEATURES = ("generic", "")
"""Processor model and list of its features, with which compiled code runs on every processor of one architecture."""


def compute_sources_digest(folder: Path) -> str:
    """Return a digest of the sources in a folder and the versions of numba and Python, to detect outdated compiled code."""
    digest = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:20]


# Computed at import: a process that runs during an upgrade must not store old code under the new digest.
SOURCES_DIGEST = compute_sources_digest(Path(__file__).parent)
"""Digest of this package's sources as this process loaded them, for the name of the folder with the compiled functions."""


def get_kernel_folder(cache_folder: Path) -> Path:
    """Return the folder, inside the cache folder `cache_folder`, for functions compiled from this version of the sources."""
    return cache_folder / "riskless-arena" / f"kernels-{SOURCES_DIGEST}"


def list_precompiled_folders() -> list[Path]:
    """Return the folders of precompiled functions (kernels): one inside each folder that the variable ARENA_KERNELS lists.

    Such a folder is made by compiling kernels with the environment variable XDG_CACHE_HOME set to the listed folder.
    """
    folder_names = os.environ.get(PRECOMPILED_FOLDERS_ENV_VARIABLE, "").split(os.pathsep)
    return [get_kernel_folder(Path(each)) for each in folder_names if each]


def list_candidate_cache_folders() -> Iterator[Path]:
    """Yield the cache folders to try: the user's own folder, then one in the virtual environment.

    The second folder is for users without a home directory, such as service accounts, which may own their virtual environment.
    """
    xdg_folder = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if xdg_folder.is_absolute():
        yield xdg_folder
    else:
        with suppress(RuntimeError):  # there is no known home directory
            yield Path.home() / ".cache"
    if sys.prefix != sys.base_prefix:
        yield Path(sys.prefix) / "cache"


def choose_writable_kernel_folder(candidate_folders: Iterable[Path]) -> Path:
    """Return the folder for compiled functions in the first writable one of `candidate_folders`, else a temporary folder.

    Every process creates its own temporary folder, because anybody could put code into a folder with a predictable
    name.
    """
    for cache_folder in candidate_folders:
        folder = get_kernel_folder(cache_folder)
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
    return Path(tempfile.mkdtemp(prefix="riskless-arena-kernels-"))


@cache
def get_writable_kernel_folder() -> Path:
    """Return the folder in which this process stores compiled functions (kernels)."""
    return choose_writable_kernel_folder(list_candidate_cache_folders())


@contextmanager
def hold_compile_lock() -> Iterator[None]:
    """During the `with` block, let only this process compile, so that other processes find the result in the cache.

    If files cannot be locked, each process compiles for itself.
    """
    with (get_writable_kernel_folder() / "lock").open("w") as file:
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def compile_kernel(function: Function, name: str) -> Function:
    """Return `function` as a kernel (compiled function). Its first call compiles it, or loads it from the cache by its `name`.

    A kernel runs without the GIL and without checks: indices must be valid, and a division by zero is not detected.
    """
    # _nrt=False avoids reference counting of arrays, which would take longer than the search
    dispatcher: Any = _njit(nogil=True, boundscheck=False, error_model="numpy", _nrt=False)(function)

    class KernelCacheLocation(_caching.CompileResultCacheImpl):  # type: ignore[misc]
        """Location and file name of a kernel in the cache."""

        def __init__(self, py_func: Any) -> None:
            self._lineno = 0
            self._filename_base = name
            self._locator = _CacheLocator(get_writable_kernel_folder())
            del py_func

    class KernelCache(_caching.Cache):  # type: ignore[misc]
        """Cache that identifies a kernel by its name alone, and also looks in the folders of precompiled kernels."""

        _impl_class = KernelCacheLocation

        def _index_key(self, sig: Any, codegen: Any) -> Any:
            return sig, codegen.magic_tuple(), name

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            cached_code = super().load_overload(sig, target_context)
            if cached_code is not None:
                return cached_code
            architecture, *processor = target_context.codegen().magic_tuple()
            for wanted_processor in (tuple(processor), GENERIC_PROCESSOR_MODEL_AND_FEATURES):
                for path in list_precompiled_folders():
                    data = _open_precompiled_cache(path, name).load(
                        (sig, (architecture, *wanted_processor), name)
                    )
                    if data is not None:
                        return self._impl.rebuild(target_context, data)
            return None

    dispatcher._cache = KernelCache(function)  # noqa: SLF001  # numba has no public way to choose the cache
    return cast("Function", dispatcher)


def _open_precompiled_cache(path: Path, name: str) -> Any:
    """Return numba's cache object for the compiled function (kernel) `name` in the folder `path`, which need not exist."""
    return _caching.IndexDataCacheFile(str(path), name, path.name)


class _CacheLocator:
    """Location of the cache files, with the interface that numba requires."""

    def __init__(self, cache_folder: Path) -> None:
        self._cache_folder = cache_folder

    def get_cache_path(self) -> str:
        return str(self._cache_folder)

    def ensure_cache_path(self) -> None:
        """Do nothing, because `choose_writable_kernel_folder` has created the folder."""

    def get_source_stamp(self) -> str:
        """Return the name of the cache folder, by which numba sees changed sources, because it contains their digest."""
        return self._cache_folder.name
