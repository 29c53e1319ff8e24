"""Compiling kernels, and finding them compiled in the next process.

numba keeps compiled code on disk, but asks only whether the file of the outermost function has
changed, and identifies a function by what its closure holds, which differs from process to process
where that is another compiled function or an intrinsic. Kernels here are closures over functions of
other files. So the folder is named by a digest of all sources of this package, and a kernel in it
by its name alone.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import caching
from numba.extending import register_jitable

if sys.platform != "win32":
    import fcntl

Function = TypeVar("Function", bound=Callable[..., Any])

# what is used of these is more than their types tell
_njit: Any = numba.njit
_caching: Any = caching
_register: Any = register_jitable


def inlined(function: Function) -> Function:
    """A function for kernels to call; it becomes a part of each."""
    return cast("Function", _register(forceinline=True, _nrt=False)(function))


def digest() -> str:
    """Names the sources of this package, and what they are compiled with."""
    whole = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        whole.update(path.name.encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()[:20]


def folder() -> Path:
    """Where compiled kernels of these sources are kept: the user's cache, else the temporary folder.

    The folder of the temporary kind is made anew by every process, since anybody could have put code
    into one with a name that can be told beforehand.
    """
    given = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(given) if Path(given).is_absolute() else Path.home() / ".cache"
    wanted = base / "riskless-arena" / f"kernels-{digest()}"
    try:
        wanted.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=wanted):
            return wanted
    except OSError:
        return Path(tempfile.mkdtemp(prefix="riskless-arena-kernels-"))


_folder: list[Path] = []


def chosen_folder() -> Path:
    """`folder()`, asked once in a process."""
    if not _folder:
        _folder.append(folder())
    return _folder[0]


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Of several processes that are about to compile the same, one does, and the others then find it.

    Where files cannot be locked, each compiles for itself.
    """
    with (chosen_folder() / "lock").open("w") as file:
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def kernel(function: Function, name: str) -> Function:
    """`function` compiled at its first call, or taken from the cache, where it is called `name`.

    It runs without the GIL, unchecked: indices must be right, and a division by zero is not noticed.
    """
    # without _nrt no array is reference-counted, which would cost more than the search
    dispatcher: Any = _njit(nogil=True, boundscheck=False, error_model="numpy", _nrt=False)(function)

    class Impl(_caching.CompileResultCacheImpl):  # type: ignore[misc]
        """Where the files are."""

        def __init__(self, py_func: Any) -> None:
            self._lineno = 0
            self._filename_base = name
            self._locator = _Locator(chosen_folder())
            del py_func

    class Cache(_caching.Cache):  # type: ignore[misc]
        """What names a compiled kernel."""

        _impl_class = Impl

        def _index_key(self, sig: Any, codegen: Any) -> Any:
            return sig, codegen.magic_tuple(), name

    dispatcher._cache = Cache(function)  # noqa: SLF001  # numba has no public way to choose the cache
    return cast("Function", dispatcher)


class _Locator:
    """Answers numba's question where to keep the files."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)

    def get_cache_path(self) -> str:
        return self._path

    def ensure_cache_path(self) -> None:
        """Nothing is to be done: `folder` has made it."""

    def get_source_stamp(self) -> str:
        """The same for all kernels, because the folder's name tells the sources."""
        return self._path
