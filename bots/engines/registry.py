"""Conversion of an engine spec, such as `alphabeta:depth=4` or `my_bot.py`, to an engine that creates a bot for each match."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena import user_paths
from arena.bots.api.bot import Bot
from arena.bots.api.engine_spec import (
    CONTAINER_SPEC_PREFIXES,
    OPTIONS_BY_ENGINE,
    PROGRAM_SPEC_PREFIX,
    BadSpec,
    ParsedSpec,
    count_engine_threads,
    parse_spec,
)
from arena.bots.client.worker import BotFactory
from arena.bots.compiled.availability import has_engine_extra
from arena.bots.engines.from_file import load_bot_class, make_engine_name, require_bot_file
from arena.bots.engines.implementations import choose_implementation, list_reported_options
from arena.bots.engines.perfect import (
    PerfectBot,
    find_perfect_incompatibility_reason,
    load_requested_solution,
)
from arena.bots.engines.searching import SearchingBot
from arena.bots.engines.simple import GreedyBot, RandomBot
from arena.bots.evaluators.catalogue import BUILT_IN_EVALUATOR_NAMES, NETWORK_FILE_SUFFIX
from arena.games.core import Game
from arena.games.loading import is_file_spec
from arena.protocol.engines import EngineInfo

MAX_ENGINE_NAME_CHARACTERS = 64
"""Maximum length of the engine's name that a bot sends to the server, in characters. A longer name is cut."""
MAX_OPTION_VALUE_CHARACTERS = 200
"""Maximum length of the value of an option that a bot sends to the server, in characters. A longer value is cut."""


@dataclass(frozen=True)
class Engine:
    """Engine that can play any number of matches, each with its own bot."""

    name: str
    """Short name, for people: a built-in engine's name, or the name of the file, the program or the container image."""
    spec: str
    """Spec from which the engine was made, such as `alphabeta:depth=4` or `my_bot.py`."""
    make_bot: BotFactory
    """Function that creates a bot for one match."""
    parsed_spec: ParsedSpec | None = None
    """Parsed spec of a built-in engine; None for a file, a program or a container."""

    def describe(self, core_count: int) -> EngineInfo:
        """Return a description of the engine for the server.

        The description of a built-in engine has the name, the options, and the number of search threads that the engine
        uses on a machine with `core_count` CPU cores.
        The description of a file, a program or a container has only the name.
        """
        if self.parsed_spec is None:
            return EngineInfo(self.name[:MAX_ENGINE_NAME_CHARACTERS] or "?")
        values = list_reported_options(self.parsed_spec)
        options = {
            name: value[:MAX_OPTION_VALUE_CHARACTERS] for name, value in values.items() if name != "threads"
        }
        return EngineInfo(self.name, options, count_engine_threads(self.parsed_spec, core_count))


def make_engine(spec: str) -> Engine:
    """Return the engine of a spec: `NAME`, `NAME:option=value,…`, `file.py` or `file.py:Class`.

    Raises BadSpec for an invalid spec; the message shows the valid forms in one line.
    """
    if is_file_spec(spec):
        return Engine(make_engine_name(spec), spec, load_bot_class(spec))
    parsed = _parse_built_in_spec(spec)
    if "evaluator" in parsed.option_values:
        require_known_evaluator(parsed)
    choose_implementation(parsed)
    return Engine(parsed.name, spec, lambda: _make_bot(parsed), parsed)


def require_valid_spec(spec: str, folder: Path) -> None:
    """Raise BadSpec if the spec of a bot is invalid. Checks that a file exists, but runs no file, program or container.

    folder  working directory of the bot's process; the path of a bot's Python file is relative to this folder
    """
    if spec.startswith((PROGRAM_SPEC_PREFIX, *CONTAINER_SPEC_PREFIXES)):
        return
    if is_file_spec(spec):
        require_bot_file(spec, folder)
    else:
        choose_implementation(_parse_built_in_spec(spec))


def _parse_built_in_spec(spec: str) -> ParsedSpec:
    """Return the parsed spec of a built-in engine. Raises BadSpec for any other text; the message suggests what to write."""
    try:
        return parse_spec(spec, OPTIONS_BY_ENGINE)
    except BadSpec as error:
        if user_paths.is_folder(spec):
            raise BadSpec(
                f"{spec} is a folder: give a Python file in it, such as {Path(spec, 'bot.py')}"
            ) from None
        name = spec.partition(":")[0]
        file = f"the file {name}.py" if name and user_paths.is_file(f"{name}.py") else "a file NAME.py"
        raise BadSpec(str(error) if name in OPTIONS_BY_ENGINE else f"{error} (or give {file})") from None


def find_incompatibility_reason(spec: str, game: Game[Any, Any]) -> str | None:
    """Return why the built-in engine of `spec` cannot play `game`, in one line, or None if it can.

    Also return None for a file, because its bot cannot be checked, and for a spec that is not of a built-in engine.
    """
    try:
        parsed = parse_spec(spec, OPTIONS_BY_ENGINE)
    except BadSpec:
        return None
    try:
        choose_implementation(parsed, game)
        load_requested_solution(parsed, game)
    except BadSpec as error:
        return str(error)
    return (find_perfect_incompatibility_reason(game) or None) if parsed.name == "perfect" else None


def _make_bot(spec: ParsedSpec) -> Bot:
    match spec.name:
        case "random":
            return RandomBot(spec.option_values["seed"])
        case "greedy":
            return GreedyBot(spec.option_values["evaluator"], spec.option_values["seed"])
        case "perfect":
            return PerfectBot()
        case _:
            return SearchingBot(spec)


def require_known_evaluator(spec: ParsedSpec) -> None:
    """Raise BadSpec if an engine's evaluator is neither a known name nor an existing file."""
    name = spec.option_values["evaluator"]
    if name.endswith((".toml", NETWORK_FILE_SUFFIX)):
        if not user_paths.is_file(name):
            raise BadSpec(f"{spec.name}: weights file {name:.200} not found")
        if name.endswith(NETWORK_FILE_SUFFIX) and not has_engine_extra():
            raise BadSpec(
                f'{spec.name}: networks need the engine extra: pip install "riskless-arena[engine]"'
            )
    elif name not in BUILT_IN_EVALUATOR_NAMES:
        choices = ", ".join(BUILT_IN_EVALUATOR_NAMES)
        raise BadSpec(
            f"{spec.name}: evaluator must be {choices} or a file NAME.toml or NAME.npz, not {name!r:.60}"
        )
