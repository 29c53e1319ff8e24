"""Engine from a Python file: `my_bot.py`, or `my_bot.py:MyBot` if the file has several bots.

The file is loaded under a unique module name, so the file may have any name, even `random.py` or `bots.py`.
The file can import other files in its folder; modules of the project or of Python with the same name take precedence.
"""

from __future__ import annotations

import inspect
from pathlib import Path

from arena.bots.api.bot import Bot
from arena.bots.api.engine_spec import BadSpec
from arena.games.loading import describe_load_error, find_class_in_module, run_file_as_module, split_file_spec

_BOT_MODULE_PREFIX = "arena_bot_file_"
_PARAMETER_NAMES_BY_METHOD = {
    "prepare": (),
    "choose": ("position", "clock"),
    "opponent_moved": ("move", "position"),
    "ended": ("ending",),
    "close": (),
}
"""Methods of a bot that are called during a match, each with the names of its parameters after `self`."""


def require_bot_file(spec: str, folder: Path = Path()) -> None:
    """Raise BadSpec if the file of the spec FILE.py or FILE.py:Class, named relative to `folder`, does not exist."""
    file, _ = split_file_spec(spec)
    path = folder / file
    if not path.is_file():
        problem = "is not a file" if path.exists() else "does not exist"
        raise BadSpec(f"{file} {problem}: give the path of a Python file with a subclass of Bot")


def load_bot_class(spec: str) -> type[Bot]:
    """Run the file of the spec FILE.py or FILE.py:Class, and return the class of its bot.

    Raises BadSpec if there is no usable bot; the message has the file, the line and the reason.
    """
    require_bot_file(spec)
    file, class_name = split_file_spec(spec)
    path = Path(file)
    try:
        module = run_file_as_module(path, _BOT_MODULE_PREFIX)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise BadSpec(describe_load_error(path, error)) from error
    try:
        bot: type[Bot] = find_class_in_module(module, Bot, class_name, "bot", file, file)
    except LookupError as error:
        raise BadSpec(str(error)) from None
    if inspect.isabstract(bot):
        raise BadSpec(f"{file}: {bot.__name__} has no method choose(self, position, clock)")
    _require_valid_signatures(file, bot)
    return bot


def _require_valid_signatures(file_name: str, bot_class: type[Bot]) -> None:
    """Raise BadSpec if a bot's class needs arguments, or a method does not take the parameters in `_PARAMETER_NAMES_BY_METHOD`.

    file_name  name of the file with the class, for the error message
    """
    try:
        inspect.signature(bot_class).bind()
    except TypeError as error:
        raise BadSpec(
            f"{file_name}: {bot_class.__name__} must be callable without arguments: {error}"
        ) from None
    for name, parameters in _PARAMETER_NAMES_BY_METHOD.items():
        method = getattr(bot_class, name)
        try:
            inspect.signature(method).bind(None, *parameters)
        except TypeError:
            expected, actual = ", ".join(("self", *parameters)), inspect.signature(method)
            raise BadSpec(
                f"{file_name}: {bot_class.__name__}.{name} must be {name}({expected}), not {name}{actual}"
            ) from None
        if inspect.iscoroutinefunction(method):
            raise BadSpec(
                f"{file_name}: {bot_class.__name__}.{name} must be a plain method: write def, not async def"
            )


def make_engine_name(spec: str) -> str:
    """Return the name of the engine FILE.py or FILE.py:Class: the name of the file without its folder and `.py`."""
    return Path(split_file_spec(spec)[0]).stem
