"""Games of somebody's own: a class in a Python file, or what an installed package brings under `arena.games`.

Code is run here because the person at this machine named it, or installed it: never because of what came over a
network. A file is loaded under a module name of its own, so it may be called anything, `random.py` or `games.py` too;
the files beside it can be imported.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
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

GROUP = "arena.games"
"""The group of entry points by which an installed package brings games: each is named as its class's `name`."""
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)
"""What a game may be called."""
_PREFIX = "arena_game_file_"
_LOADING = RLock()
"""Held while a game's file is run, which may itself load another."""

GameClass = type[Game[Any, Any]]


def is_file_spec(spec: str) -> bool:
    """Whether a text names a game or a bot in a file: it ends in `.py`, or in `.py:Name`."""
    return split_spec(spec)[0].endswith(".py")


def split_spec(spec: str) -> tuple[str, str]:
    """The file and the class of `file.py:Class`; no class where none is named."""
    file, colon, name = spec.rpartition(":")
    return (file, name) if colon and file.endswith(".py") else (spec, "")


def game_in_file(path: Path, wanted: str) -> GameClass:
    """The game that a class in a file is. Runs the file. Raises BadGame with the file, the line and why.

    path     absolute, so that one file is one game
    wanted   the class's name; empty: the only game in the file
    """
    if not path.is_file():
        what = "is no file" if path.exists() else "does not exist"
        raise BadGame(f"{path} {what}: give the path of a Python file with a subclass of Game, FILE.py:Class")
    try:
        module = _module_in(path)
    except Exception as error:
        raise BadGame(where_it_broke(path, error)) from error
    try:
        game: GameClass = class_in(module, Game, wanted, "game", str(path), path.name)
    except LookupError as error:
        raise BadGame(str(error)) from None
    return usable(game, str(path))


def class_in(module: ModuleType, base: type, wanted: str, what: str, where: str, file: str) -> type[Any]:
    """The subclass of `base` that a file's module has, or the one that is wanted of several.

    what    what such a class is called: a game, a bot
    where   the file, as a complaint names it; `file`: as its examples do

    Raises LookupError with one line that says what is wrong and what would be right.
    """
    found = {
        name: value
        for name, value in vars(module).items()
        if inspect.isclass(value) and issubclass(value, base) and value.__module__ == module.__name__
    }
    if not found:
        raise LookupError(
            f"{where} has no {what}: write a class with `from arena import {base.__name__}` as its base"
        )
    if wanted and wanted not in found:
        raise LookupError(f"{where} has no {what} called {wanted!r:.60}: there are {', '.join(found)}")
    # A base class that several of them share need not be whole.
    whole = {name: value for name, value in found.items() if not inspect.isabstract(value)}
    if not wanted and len(whole) > 1:
        raise LookupError(
            f"{where} has {len(whole)} {what}s: name one of {', '.join(whole)}, as in {file}:{next(iter(whole))}"
        )
    return found[wanted] if wanted else next(iter((whole or found).values()))


def _module_in(path: Path) -> ModuleType:
    """The module that a game's file is: it is run once, whichever of its classes and threads asks for it."""
    # The cache alone would let two threads that come together each run the file, and each have another class.
    with _LOADING:
        return _loaded(path)


@cache
def _loaded(path: Path) -> ModuleType:
    return load_file(path, _PREFIX)


def installed() -> Mapping[str, EntryPoint]:
    """The games that installed packages bring, by name, none of them loaded. What is not named as a game is left out."""
    return _installed()


@cache
def _installed() -> dict[str, EntryPoint]:
    return {each.name: each for each in entry_points(group=GROUP) if NAME.fullmatch(each.name)}


@cache
def installed_game(name: str) -> GameClass:
    """The game that an installed package brings under this name. Runs its module. Raises BadGame, KeyError."""
    point = installed()[name]
    where = f"the game {name} of {point.dist.name if point.dist else 'an installed package'} ({point.value})"
    try:
        made = point.load()
    except Exception as error:
        raise BadGame(f"{where} cannot be loaded: {type(error).__name__}: {error}".splitlines()[0]) from error
    if not inspect.isclass(made) or not issubclass(made, Game):
        raise BadGame(f"{where} is no subclass of Game")
    if usable(made, where).name != name:
        raise BadGame(f"{where} calls itself {made.name!r}: its entry point must have the same name")
    return made


def usable(game: GameClass, where: str) -> GameClass:
    """The class, if a match can be played of it. Raises BadGame, naming `where` it is and what it lacks."""
    missing = sorted(game.__abstractmethods__)
    if missing:
        raise BadGame(f"{where}: {game.__name__} has no method {', '.join(missing)}")
    name = getattr(game, "name", None)
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise BadGame(
            f'{where}: {game.__name__} needs a name of small letters, digits, _ and -, as in name = "connect4"'
        )
    try:
        game.from_setup({}).start()
    except GameError as error:
        raise BadGame(f"{where}: {game.__name__} cannot be set up: {error}") from None
    except Exception as error:
        told = f"{type(error).__name__}: {error}".splitlines()[0]
        raise BadGame(f"{where}: {game.__name__} cannot be set up: {told}") from error
    return game


def load_file(path: Path, prefix: str) -> ModuleType:
    """The module that a file is, run under a name with this prefix. Raises whatever the file raises, and ImportError."""
    name = prefix + path.stem
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    # The module is put there before it runs: dataclasses and pickle look a class's module up here.
    sys.modules[name] = module
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        # The folder comes last, so that nothing that lies there takes the place of the project's or Python's modules.
        sys.path.append(folder)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def where_it_broke(path: Path, error: BaseException) -> str:
    """One line for the author of a file that could not be loaded: the file, its line, and why."""
    why = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{path}{_line(error, path.resolve())}: {type(error).__name__}: {why}".splitlines()[0]


def _line(error: BaseException, path: Path) -> str:
    """`, line N`: the last line of the file itself that led to the error."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f", line {error.lineno}"
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)
    ]
    return f", line {lines[-1]}" if lines else ""
