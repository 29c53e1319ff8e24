"""An engine from a Python file: `my_bot.py`, or `my_bot.py:MyBot` where the file has several bots.

The file is loaded under a name of its own, so it may be called anything, `random.py` or `bots.py`
too. The files beside it can be imported; what the project or Python calls by the same name goes first.
"""

from __future__ import annotations

import inspect
from pathlib import Path

from arena.bots.api.bot import Bot
from arena.bots.api.options import BadSpec
from arena.games.loading import class_in, load_file, split_spec, where_it_broke

_PREFIX = "arena_bot_file_"
_CALLED = {
    "prepare": (),
    "choose": ("position", "clock"),
    "opponent_moved": ("move", "position"),
    "ended": ("ending",),
    "close": (),
}
"""The methods that a match calls, and the arguments that it gives them."""


def bot_class(spec: str) -> type[Bot]:
    """The bot that a file spec names. Runs the file. Raises BadSpec with the file, the line and why."""
    file, wanted = split_spec(spec)
    path = Path(file)
    if not path.is_file():
        what = "is no file" if path.exists() else "does not exist"
        raise BadSpec(f"{file} {what}: give the path of a Python file with a subclass of Bot")
    try:
        module = load_file(path, _PREFIX)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise BadSpec(where_it_broke(path, error)) from error
    try:
        bot: type[Bot] = class_in(module, Bot, wanted, "bot", file, file)
    except LookupError as error:
        raise BadSpec(str(error)) from None
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
    return Path(split_spec(spec)[0]).stem
