"""An engine from a Python file: `my_bot.py`, or `my_bot.py:MyBot` where the file has several bots.

The file is loaded under a name of its own, so it may be called anything, `random.py` or `bots.py`
too. The files beside it can be imported; what the project or Python calls by the same name goes first.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType

from bots.api.bot import Bot
from bots.api.options import BadSpec

_PREFIX = "arena_bot_file_"
_CALLED = {
    "prepare": (),
    "choose": ("position", "clock"),
    "opponent_moved": ("move", "position"),
    "ended": ("ending",),
    "close": (),
}
"""The methods that a match calls, and the arguments that it gives them."""


def is_file_spec(spec: str) -> bool:
    """Whether a spec names a file: it ends in `.py`, or in `.py:Name`."""
    return _split(spec)[0].endswith(".py")


def bot_class(spec: str) -> type[Bot]:
    """The bot that a file spec names. Runs the file. Raises BadSpec with the file, the line and why."""
    file, wanted = _split(spec)
    path = Path(file)
    if not path.is_file():
        what = "is no file" if path.exists() else "does not exist"
        raise BadSpec(f"{file} {what}: give the path of a Python file with a subclass of bots.api.bot.Bot")
    module = _load(path)
    found = {
        name: value
        for name, value in vars(module).items()
        if inspect.isclass(value) and issubclass(value, Bot) and value.__module__ == module.__name__
    }
    if not found:
        raise BadSpec(f"{file} has no bot: write a class with `from bots.api.bot import Bot` as its base")
    if wanted and wanted not in found:
        raise BadSpec(f"{file} has no bot called {wanted!r:.60}: there are {', '.join(found)}")
    # A base class that several bots share need not be able to choose.
    able = {name: value for name, value in found.items() if not inspect.isabstract(value)}
    if not wanted and len(able) > 1:
        raise BadSpec(
            f"{file} has {len(able)} bots: name one of {', '.join(able)}, as in {file}:{next(iter(able))}"
        )
    bot = found[wanted] if wanted else next(iter((able or found).values()))
    if inspect.isabstract(bot):
        raise BadSpec(f"{file}: {bot.__name__} has no method choose(self, position, clock)")
    _check_calls(file, bot)
    return bot


def _check_calls(file: str, bot: type[Bot]) -> None:
    """Check that the methods can be called as a match calls them: better told now than lost later. Raises BadSpec."""
    try:
        inspect.signature(bot).bind()
    except TypeError as error:
        raise BadSpec(
            f"{file}: {bot.__name__} is made without arguments, and its __init__ does not allow that: {error}"
        ) from None
    for name, parameters in _CALLED.items():
        method = getattr(bot, name)
        try:
            inspect.signature(method).bind(None, *parameters)
        except TypeError:
            right, wrong = ", ".join(("self", *parameters)), inspect.signature(method)
            raise BadSpec(
                f"{file}: {bot.__name__}.{name} must be {name}({right}), not {name}{wrong}"
            ) from None


def engine_name(spec: str) -> str:
    """The file's name without `.py`."""
    return Path(_split(spec)[0]).stem


def _split(spec: str) -> tuple[str, str]:
    file, colon, name = spec.rpartition(":")
    return (file, name) if colon and file.endswith(".py") else (spec, "")


def _load(path: Path) -> ModuleType:
    name = _PREFIX + path.stem
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise BadSpec(f"{path} cannot be loaded as Python")
    module = importlib.util.module_from_spec(spec)
    # The module is put there before it runs: dataclasses and pickle look a class's module up here.
    sys.modules[name] = module
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        # The folder comes last, so that nothing that lies there takes the place of the project's or Python's modules.
        sys.path.append(folder)
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        del sys.modules[name]
        why = error.msg if isinstance(error, SyntaxError) else str(error)
        told = f"{path}{_line(error, path.resolve())}: {type(error).__name__}: {why}"
        raise BadSpec(told.splitlines()[0]) from error
    return module


def _line(error: BaseException, path: Path) -> str:
    """`, line N`: the last line of the file itself that led to the error."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f", line {error.lineno}"
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)
    ]
    return f", line {lines[-1]}" if lines else ""
