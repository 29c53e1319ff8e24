"""Compiling kernels, and finding them compiled in the next process.

numba keeps compiled code on disk, but asks only whether the file of the outermost function has
changed, and identifies a function by what its closure holds, which differs from process to process
where that is another compiled function or an intrinsic. Kernels here are closures over functions of
other files. So the folder is named by a digest of all sources of this package, and a kernel in it
by its name alone. A kernel of another package has the digest of that package's sources (`digest_of`) in its name.

Compiled code is for one model of processor. A process looks for code for its own: in its cache, then in the folders
that ARENA_KERNELS names, which are only read. If there is none, it takes the code that was compiled there for any
processor (NUMBA_CPU_NAME=generic), which is some 15 % slower. Only if there is none of that either, it compiles.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
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


MADE_BEFORE = "ARENA_KERNELS"
"""The variable that names folders of kernels that were compiled before, with a colon between (Windows: a semicolon)."""

ANY_PROCESSOR = ("generic", "")
"""The model and the features for which numba compiles what every processor of an architecture can run."""


def digest_of(folder: Path) -> str:
    """Digest of the Python sources in a folder, and of the versions of numba and Python that compile them."""
    whole = hashlib.sha256(f"{numba.__version__} {sys.version}".encode())
    for path in sorted(folder.rglob("*.py")):
        whole.update(path.name.encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()[:20]


# Asked before anything is compiled: a process that goes on through an upgrade must not keep the old code as the new's.
DIGEST = digest_of(Path(__file__).parent)
"""The sources that this process runs."""


def inside(cache: Path) -> Path:
    """The folder of these sources' kernels inside a folder for caches."""
    return cache / "riskless-arena" / f"kernels-{DIGEST}"


def made_before() -> list[Path]:
    """The folders of kernels that ARENA_KERNELS names: each was the XDG_CACHE_HOME of whoever compiled them."""
    named = os.environ.get(MADE_BEFORE, "").split(os.pathsep)
    return [inside(Path(each)) for each in named if each]


def places() -> Iterator[Path]:
    """The folders for caches that this user may have, the best first: the user's own, then that of a virtual environment.

    A user without a home, as many services are, may still own the environment that it runs in.
    """
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if given.is_absolute():
        yield given
    else:
        with suppress(RuntimeError):  # there is no home that anybody knows of
            yield Path.home() / ".cache"
    if sys.prefix != sys.base_prefix:
        yield Path(sys.prefix) / "cache"


def folder(bases: Iterable[Path]) -> Path:
    """Where compiled kernels of these sources are kept: in the first of these that can be written, else a temporary one.

    The folder of the temporary kind is made anew by every process, since anybody could have put code
    into one with a name that can be told beforehand.
    """
    for base in bases:
        wanted = inside(base)
        with suppress(OSError):
            wanted.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=wanted):
                return wanted
    return Path(tempfile.mkdtemp(prefix="riskless-arena-kernels-"))


_folder: list[Path] = []


def chosen_folder() -> Path:
    """`folder`, asked once in a process."""
    if not _folder:
        _folder.append(folder(places()))
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
        """What names a compiled kernel, and where else it is looked for."""

        _impl_class = Impl

        def _index_key(self, sig: Any, codegen: Any) -> Any:
            return sig, codegen.magic_tuple(), name

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            found = super().load_overload(sig, target_context)
            if found is not None:
                return found
            architecture, *processor = target_context.codegen().magic_tuple()
            for wanted in (tuple(processor), ANY_PROCESSOR):
                for path in made_before():
                    data = _made_in(path, name).load((sig, (architecture, *wanted), name))
                    if data is not None:
                        return self._impl.rebuild(target_context, data)
            return None

    dispatcher._cache = Cache(function)  # noqa: SLF001  # numba has no public way to choose the cache
    return cast("Function", dispatcher)


def _made_in(path: Path, name: str) -> Any:
    """The files of a kernel in a folder; a folder that is not there has none."""
    return _caching.IndexDataCacheFile(str(path), name, path.name)


class _Locator:
    """Answers numba's question where to keep the files."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def get_cache_path(self) -> str:
        return str(self._path)

    def ensure_cache_path(self) -> None:
        """Nothing is to be done: `folder` has made it."""

    def get_source_stamp(self) -> str:
        """The name of the folder, which tells the sources: one stamp for all kernels, wherever the folder is moved to."""
        return self._path.name
