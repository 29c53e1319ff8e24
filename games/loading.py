"""Loading of custom games: a class in a Python file, or an entry point `arena.games` of an installed package.

Code runs only if somebody at this machine has named its file or installed its package, never because of data from a
network. A file is loaded under a unique module name, so the file may have any name, even `random.py` or `games.py`. The
file can import other modules in its folder.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import site
import sys
import sysconfig
import traceback
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any

from arena.games.basics import BadGame, GameError
from arena.games.core import Game

ENTRY_POINT_GROUP = "arena.games"
"""Entry point group for games of installed packages. The name of an entry is the `name` of its game class."""
GAME_NAME_PATTERN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)
"""Pattern that the name of every game must match."""
_GAME_MODULE_NAME_PREFIX = "arena_game_file_"
"""Prefix of the module names under which files with games are loaded, which keeps them apart from all other modules."""
_LIBRARY_FOLDERS = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), *site.getsitepackages())
"""Folders of Python's own modules and of installed packages. Imports search them before the folder of a game's file."""
_GAME_FILE_LOCK = RLock()
"""Lock held while a game's file runs. The lock is reentrant, because the file may load another game's file."""

GameClass = type[Game[Any, Any]]
"""Class of a game. Each instance is the game with the parameters of one match, such as a map."""


def is_file_spec(spec: str) -> bool:
    """Return True if the text names a game or bot in a file, such as `FILE.py` or `FILE.py:Name`."""
    return split_file_spec(spec)[0].endswith(".py")


def split_file_spec(spec: str) -> tuple[str, str]:
    """Return the file and the class name in `FILE.py:Class`; for any other text, the whole text and an empty class name."""
    file, colon, name = spec.rpartition(":")
    return (file, name) if colon and file.endswith(".py") else (spec, "")


def load_game_class_from_file(path: Path, class_name: str) -> GameClass:
    """Run a file, and return the game class in it.

    path        absolute path of the file. A file is run only once for each path.
    class_name  name of the class; empty for the only game in the file

    Raises BadGame if there is no usable class; the message has the file, the line and the reason.
    """
    if not path.is_file():
        problem = "is not a file" if path.exists() else "does not exist"
        raise BadGame(f"{path} {problem}: write FILE.py:Class, with a subclass of Game in that file")
    try:
        module = _load_module_once(path)
    except Exception as error:
        raise BadGame(describe_load_error(path, error)) from error
    try:
        game: GameClass = find_class_in_module(module, Game, class_name, "game", str(path), path.name)
    except LookupError as error:
        raise BadGame(str(error)) from None
    return require_valid_game_class(game, str(path))


def find_class_in_module(
    module: ModuleType, base_class: type, class_name: str, class_noun: str, source: str, file_name: str
) -> type[Any]:
    """Return the subclass of `base_class` called `class_name` in the module of a file; the only subclass if `class_name` is empty.

    class_noun  word for such a class in error messages, such as `game` or `bot`
    source      name of the file at the start of error messages, such as its path in `bots/games.py has no game`
    file_name   name of the file in an example at the end of a message, such as `games.py` in `as in games.py:Chess`

    Raises LookupError if there is no such class, or if `class_name` is empty and there are several; the message says in one
    line how to correct this.
    """
    candidates = {
        name: value
        for name, value in vars(module).items()
        if inspect.isclass(value) and issubclass(value, base_class) and value.__module__ == module.__name__
    }
    if not candidates:
        raise LookupError(
            f"{source} has no {class_noun}: write a subclass of {base_class.__name__} (`from arena import {base_class.__name__}`)"
        )
    if class_name and class_name not in candidates:
        raise LookupError(
            f"{source} has no {class_noun} called {class_name!r:.60}: choose from {', '.join(candidates)}"
        )
    # A base class shared by several games may be abstract.
    concrete_classes = {name: value for name, value in candidates.items() if not inspect.isabstract(value)}
    if not class_name and len(concrete_classes) > 1:
        raise LookupError(
            f"{source} has {len(concrete_classes)} {class_noun}s: choose one of {', '.join(concrete_classes)}, as in {file_name}:{next(iter(concrete_classes))}"
        )
    return candidates[class_name] if class_name else next(iter((concrete_classes or candidates).values()))


def _load_module_once(path: Path) -> ModuleType:
    """Return the module of a game's file, which is run only once, even for several of its classes or threads."""
    # With the cache alone, two parallel threads could both run the file and get different classes.
    with _GAME_FILE_LOCK:
        return _load_module(path)


@cache
def _load_module(path: Path) -> ModuleType:
    return run_file_as_module(path, _GAME_MODULE_NAME_PREFIX)


@cache
def list_installed_game_entry_points() -> Mapping[str, EntryPoint]:
    """Return the entry points of games in installed packages, by name, without loading them. Invalid names are left out."""
    return {
        entry_point.name: entry_point
        for entry_point in entry_points(group=ENTRY_POINT_GROUP)
        if GAME_NAME_PATTERN.fullmatch(entry_point.name)
    }


@cache
def load_installed_game_class(game_name: str) -> GameClass:
    """Run the module of the game that an installed package provides under `game_name`, and return the game's class.

    Raises BadGame if the module cannot be loaded or its class is not a valid game, and KeyError if no package provides
    it.
    """
    entry_point = list_installed_game_entry_points()[game_name]
    source = f"the game {game_name} of {entry_point.dist.name if entry_point.dist else 'an installed package'} ({entry_point.value})"
    try:
        loaded_object = entry_point.load()
    except Exception as error:
        raise BadGame(
            f"{source} cannot be loaded: {type(error).__name__}: {error}".splitlines()[0]
        ) from error
    if not inspect.isclass(loaded_object) or not issubclass(loaded_object, Game):
        raise BadGame(f"{source} must be a subclass of Game")
    if require_valid_game_class(loaded_object, source).name != game_name:
        raise BadGame(
            f"{source} is called {loaded_object.name!r}, but its entry point is called {game_name!r}: give both the same name"
        )
    return loaded_object


def require_valid_game_class(game_class: GameClass, source: str) -> GameClass:
    """Return the class `game_class` if it defines the methods and the name that a game needs, and can create a game.

    Otherwise raise BadGame, whose message begins with `source`, the file or package of the class, and gives the reason.
    """
    missing_methods = sorted(game_class.__abstractmethods__)
    if missing_methods:
        raise BadGame(f"{source}: {game_class.__name__} must define {', '.join(missing_methods)}")
    name = getattr(game_class, "name", None)
    if not isinstance(name, str) or not GAME_NAME_PATTERN.fullmatch(name):
        raise BadGame(
            f'{source}: {game_class.__name__} needs a name of lowercase letters, digits, _ and -, e.g. name = "connect4"'
        )
    try:
        game_class.from_setup({}).start()
    except GameError as error:
        raise BadGame(f"{source}: {game_class.__name__}.from_setup({{}}).start() failed: {error}") from None
    except Exception as error:
        error_text = f"{type(error).__name__}: {error}".splitlines()[0]
        raise BadGame(
            f"{source}: {game_class.__name__}.from_setup({{}}).start() failed: {error_text}"
        ) from error
    return game_class


def run_file_as_module(path: Path, module_name_prefix: str) -> ModuleType:
    """Run a file and return its module, whose name is `module_name_prefix` followed by the file's name.

    The file's folder is added to `sys.path`. Raises ImportError if the file cannot be loaded as Python. Any exception
    raised by the file propagates.
    """
    module_name = module_name_prefix + path.stem
    module_spec = importlib.util.spec_from_file_location(module_name, path.resolve())
    if module_spec is None or module_spec.loader is None:
        raise ImportError(f"{path} cannot be loaded as Python: give a .py file")
    module = importlib.util.module_from_spec(module_spec)
    # The module is registered before it runs, because dataclasses and pickle look it up by name.
    sys.modules[module_name] = module
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(_choose_sys_path_insert_index(), folder)
    try:
        module_spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module_name]
        raise
    return module


def _choose_sys_path_insert_index() -> int:
    """Return the index at which to insert the folder of a user's file into `sys.path`.

    The folder comes after Python's modules and the installed packages, so that no file in it replaces one of them. The
    folder comes before the folders of packages that are installed in editable mode. So even in a checkout of this project,
    which has folders `games` and `match`, `import games` in the user's file finds the user's own `games.py`.
    """
    library_indexes = (sys.path.index(folder) for folder in _LIBRARY_FOLDERS if folder in sys.path)
    return max(library_indexes, default=len(sys.path) - 1) + 1


def describe_load_error(path: Path, error: BaseException) -> str:
    """Return one line about a file that could not be loaded, for its author: the file, the line, and the reason."""
    why = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{path}{_describe_error_line(error, path.resolve())}: {type(error).__name__}: {why}".splitlines()[
        0
    ]


def _describe_error_line(error: BaseException, path: Path) -> str:
    """Return `, line N`: the line of the file at `path` that has the error, or that made the call in which it was raised.

    Return an empty text if the error has no such line.
    """
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f", line {error.lineno}"
    line_numbers = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)
    ]
    return f", line {line_numbers[-1]}" if line_numbers else ""
