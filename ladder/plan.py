"""Plan of a ladder (bots, game, rounds, time control), made from a file or a command line. Pure: no I/O."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from arena.bots.api.engine_spec import (
    CONTAINER_SPEC_PREFIXES,
    OPTIONS_BY_ENGINE,
    PROGRAM_SPEC_PREFIX,
    BadSpec,
    ContainerSpec,
    count_engine_threads,
    parse_spec,
)
from arena.ladder.event_openings import SHIPPED_OPENINGS
from arena.maps.game_on_map import DEFAULT_MAP
from arena.match.openings import MAX_OPENING_PLIES
from arena.protocol.adjudication import DEFAULT_ADJUDICATION, Adjudication
from arena.protocol.timecontrol import TimeControl
from arena.rating.formats import LADDER_FORMATS

MAX_BOT_NAME_LENGTH = 56
"""Maximum length of a bot's name. The protocol allows 64; the rest is for the suffix of a bot's second process (`#2`), third
and so on.
"""

MAX_EVENT_NAME_LENGTH = 100

MAX_SEARCH_THREADS_PER_BOT = 1024
"""Maximum number of search threads that a plan may give a bot."""

DEFAULT_TIME_CONTROL = "0.01/move"
DEFAULT_ROUNDS = 10
"""Default number of rounds: enough to rank the five default engines on the default map, in 90 s on two CPU cores."""

COMMAND_BOT_PREFIX = "command:"
"""Prefix of a bot's spec before the command line of a program that connects to the server by itself."""

DEFAULT_ENGINES = ("random", "greedy", "minimax", "alphabeta", "jamboree")
"""Engines that play in a ladder if the user names no bots."""


class BadLadderPlan(ValueError):
    """Raised for an invalid plan. The message names the file and key, if the plan is in a file, the reason and a valid form."""


@dataclass(frozen=True)
class BotPlan:
    """Bot of a ladder: an engine, a command that connects to the server by itself, or a bot that the ladder does not start."""

    name: str
    engine_spec: str | None = None
    """Engine spec as for `arena bot` (NAME, NAME:option=value, a file, exec:COMMAND, …).

    None for a bot that has a `command`, and for a bot that the ladder does not start.
    """
    command: tuple[str, ...] = ()
    """Program, with its arguments, that connects to the server by itself; empty for a bot without such a program.

    The program reads ARENA_URL, ARENA_NAME and ARENA_TOKEN from its environment.
    """
    thread_count: int = 0
    """Number of search threads; 0 if the engine chooses. The more threads the bots have, the fewer matches run in parallel."""

    time_control: TimeControl | None = None
    """Time control of this bot if it differs from the ladder's (time odds); None for the ladder's."""

    @property
    def description(self) -> str:
        """Engine spec or command line of the bot; empty for a bot that the ladder does not start."""
        return self.engine_spec if self.engine_spec is not None else " ".join(self.command)

    def count_required_threads(self, core_count: int) -> int:
        """Return the number of search threads of the bot on `core_count` CPU cores; 0 if the plan gives neither this number
        nor an engine.
        """
        if self.thread_count or self.engine_spec is None:
            return self.thread_count
        try:
            return count_engine_threads(parse_spec(self.engine_spec, OPTIONS_BY_ENGINE), core_count)
        except BadSpec:  # a bot from a file, or an engine that will report the error itself
            return 1


@dataclass(frozen=True)
class LadderPlan:
    """Plan of a ladder: its bots, game, maps, rounds, time control and other settings."""

    bots: tuple[BotPlan, ...]
    event_name: str = "ladder"
    game: str = "riskless"
    maps: tuple[str, ...] = (DEFAULT_MAP,)
    time_control: TimeControl = field(default_factory=lambda: TimeControl.parse(DEFAULT_TIME_CONTROL))
    margin_ms: int = 100
    format: str = "round-robin"
    """Name of the tournament format, one of `rating.formats.LADDER_FORMATS`."""
    rounds: int | None = DEFAULT_ROUNDS
    """Number of rounds; None to play until `max_play_seconds` have passed.

    In a round of a round-robin, every two bots play a pair of matches on each map.
    """
    max_play_seconds: float = math.inf
    """Seconds of play after which no more matches begin. The time between an interruption and a resumption does not count."""
    openings: int | Path | Literal["shipped"] = SHIPPED_OPENINGS
    """Openings: a number of random plies, a file, or `shipped`, the openings shipped with each map."""
    adjudication: Adjudication | None = DEFAULT_ADJUDICATION
    concurrency: int = 0
    """Maximum number of matches in parallel; 0 for as many as the CPU cores allow."""
    should_pin_bots: bool = False
    """True to pin the bots of each running match to CPU cores of their own."""
    seed: int = 1
    bot_folder: Path | None = None
    """Working folder of the bots: the folder of the ladder file, or None for the current folder."""


def map_bots_to_time_controls(bots: Iterable[BotPlan]) -> dict[str, str]:
    """Return the time controls of the bots that have their own (time odds), by name."""
    return {bot.name: str(bot.time_control) for bot in bots if bot.time_control is not None}


def make_bot_names_unique(plans: Iterable[BotPlan]) -> tuple[BotPlan, ...]:
    """Return the bots with distinct names: a second `greedy` becomes `greedy-2`."""
    plans_by_name: dict[str, BotPlan] = {}
    for plan in plans:
        name, number = plan.name, 1
        while name in plans_by_name:
            number += 1
            name = f"{plan.name}-{number}"
        plans_by_name[name] = replace(plan, name=name)
    return tuple(plans_by_name.values())


def make_engine_bot_plan(engine_spec: str) -> BotPlan:
    """Return the plan of a bot with the engine spec `engine_spec`, named after its engine or its file.

    Raises BadLadderPlan for an invalid command line.

    A spec may have a prefix:

        exec:COMMAND       program that speaks JSON Lines over stdin and stdout
        command:COMMAND    program that connects to the server by itself
        image:NAME         bot in a container image
        submit:FILE.zip    submitted bot, which runs in a container
    """
    if engine_spec.startswith(CONTAINER_SPEC_PREFIXES):
        return BotPlan(make_valid_bot_name(ContainerSpec.parse(engine_spec).bot_name), engine_spec)
    if engine_spec.startswith(COMMAND_BOT_PREFIX):
        return make_command_bot_plan(engine_spec.removeprefix(COMMAND_BOT_PREFIX))
    path, colon, options = engine_spec.partition(":")
    base = Path(path).stem if path.endswith(".py") else path
    name = (
        _choose_name_for_command(options.split())
        if engine_spec.startswith(PROGRAM_SPEC_PREFIX)
        else f"{base}{colon}{options}"
    )
    return BotPlan(make_valid_bot_name(name), engine_spec, thread_count=_parse_thread_count(options))


def make_command_bot_plan(command_line: str) -> BotPlan:
    """Return the plan of a bot with the command line `command_line`, whose program connects to the server by itself.

    Raises BadLadderPlan for an invalid command line.
    """
    try:
        words = shlex.split(command_line)
    except ValueError as error:
        raise BadLadderPlan(f"{command_line!r:.100} is not a valid command line: {error}") from None
    if not words:
        raise BadLadderPlan(
            f"{COMMAND_BOT_PREFIX} must be followed by a program and its arguments, e.g. {COMMAND_BOT_PREFIX}node my_bot.js"
        )
    return BotPlan(make_valid_bot_name(_choose_name_for_command(words)), None, tuple(words))


def make_valid_bot_name(raw_name: str) -> str:
    """Return `raw_name`, changed as little as necessary to be a valid name of a bot in a ladder."""
    printable_name = "".join(char if char.isprintable() and char != "#" else "?" for char in raw_name)
    return printable_name[:MAX_BOT_NAME_LENGTH].strip() or "?"


def _choose_name_for_command(command: Sequence[str]) -> str:
    """Return a bot's name for a command line, such as `bot` for `node src/bot.js`.

    The name comes from the first argument with a file suffix, or else from the program.
    """
    if not command:
        return "?"
    return Path(next((word for word in command[1:] if Path(word).suffix), command[0])).stem


def _parse_thread_count(engine_options: str) -> int:
    """Return the option `threads` of an engine; 0 if it is missing or invalid. The engine itself reports an invalid option."""
    values = dict(option.partition("=")[::2] for option in engine_options.split(","))
    threads_text = values.get("threads", "")
    return (
        int(threads_text)
        if threads_text.isdecimal() and 1 <= int(threads_text) <= MAX_SEARCH_THREADS_PER_BOT
        else 0
    )


def validate_event_name(event_name: str) -> str:
    """Return `event_name` if it is a valid name of an event. Raises ValueError for any other text."""
    if not 1 <= len(event_name) <= MAX_EVENT_NAME_LENGTH or not event_name.isprintable():
        raise ValueError(
            f"must be 1 to {MAX_EVENT_NAME_LENGTH} printable characters, not {event_name!r:.120}"
        )
    return event_name


def parse_openings_setting(openings_text: str, folder: Path | None = None) -> int | Path | Literal["shipped"]:
    """Parse openings: a number of random plies, `shipped`, or a file relative to `folder`.

    Raises ValueError for too many plies.
    """
    if openings_text == SHIPPED_OPENINGS:
        return SHIPPED_OPENINGS
    if not openings_text.isdecimal():
        return (folder or Path()) / openings_text
    if int(openings_text) > MAX_OPENING_PLIES:
        raise ValueError(f"an opening must have at most {MAX_OPENING_PLIES} plies, not {openings_text}")
    return int(openings_text)


def validate_ladder_format(format_name: str) -> str:
    """Return `format_name` if it is the name of a tournament format. Raises ValueError for any other name."""
    if format_name not in LADDER_FORMATS:
        raise ValueError(f"must be one of {', '.join(LADDER_FORMATS)}, not {format_name!r:.40}")
    return format_name
