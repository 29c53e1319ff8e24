"""Engines by name: from a spec that a person typed to something that makes a bot for each match."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.bots.api.bot import Bot
from arena.bots.api.options import ENGINES, BadSpec, Spec, parse_spec, threads_of
from arena.bots.client.worker import BotFactory
from arena.bots.engines.forms import always_known, choose
from arena.bots.engines.from_file import bot_class, engine_name
from arena.bots.engines.greedy import GreedyBot
from arena.bots.engines.perfect import PerfectBot, no_table, solution_for
from arena.bots.engines.random_bot import RandomBot
from arena.bots.engines.searching import SearchingBot
from arena.bots.evaluators.catalogue import NAMES as EVALUATORS
from arena.games.core import Game
from arena.games.loading import is_file_spec
from arena.protocol.engines import EngineInfo

NAME_LENGTH = 64
"""Characters of an engine's name that a server is told."""
TEXT_LENGTH = 200
"""Characters of an option's value that a server is told."""


@dataclass(frozen=True)
class Engine:
    """An engine, ready to play any number of matches."""

    name: str
    """Its short name: the built-in's, or the file's without `.py`."""
    spec: str
    """What it was made from."""
    make: BotFactory
    """Makes a bot for one match."""
    told: Spec | None = None
    """What a built-in engine was told; None for a file or a program."""

    def about(self, cores: int) -> EngineInfo:
        """What a server is told of it, with the threads that it asks for in each match on so many cores.

        A file or a program searches as it likes: of its threads nothing is said.
        """
        if self.told is None:
            return EngineInfo(self.name[:NAME_LENGTH] or "?")
        known = always_known(self.told)
        options = {name: value[:TEXT_LENGTH] for name, value in known.items() if name != "threads"}
        return EngineInfo(self.name, options, threads_of(self.told, cores))


def make_engine(spec: str) -> Engine:
    """The engine that a spec names: `NAME`, `NAME:option=value,…`, `file.py` or `file.py:Class`.

    Raises BadSpec with one line that says what would be right.
    """
    if is_file_spec(spec):
        return Engine(engine_name(spec), spec, bot_class(spec))
    try:
        parsed = parse_spec(spec, ENGINES)
    except BadSpec as error:
        hint = "" if spec.partition(":")[0] in ENGINES else ", or give a file NAME.py"
        raise BadSpec(f"{error}{hint}") from None
    if "evaluator" in parsed.values:
        _check_evaluator(parsed)
    choose(parsed)
    return Engine(parsed.name, spec, lambda: _built_in(parsed), parsed)


def refusal(spec: str, game: Game[Any, Any]) -> str | None:
    """Why a built-in engine cannot play a game as it is told to, in one line; None where it can.

    Nothing is said here of a file, or of a spec that `make_engine` refuses whatever the game.
    """
    try:
        parsed = parse_spec(spec, ENGINES)
    except BadSpec:
        return None
    try:
        choose(parsed, game)
        solution_for(parsed, game)
    except BadSpec as error:
        return str(error)
    return (no_table(game) or None) if parsed.name == "perfect" else None


def _built_in(spec: Spec) -> Bot:
    match spec.name:
        case "random":
            return RandomBot(spec.whole("seed"))
        case "greedy":
            return GreedyBot(spec.word("evaluator"), spec.whole("seed"))
        case "perfect":
            return PerfectBot()
        case _:
            return SearchingBot(spec)


def _check_evaluator(spec: Spec) -> None:
    name = spec.word("evaluator")
    if name.endswith(".toml"):
        if not Path(name).is_file():
            raise BadSpec(f"{spec.name}: there is no weights file {name:.200}")
    elif name not in EVALUATORS:
        known = ", ".join(EVALUATORS)
        raise BadSpec(f"{spec.name}: evaluator must be {known} or a file NAME.toml, not {name!r:.60}")
