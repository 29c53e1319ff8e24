"""Plan of a ladder before anything runs, parsed from a file or a command line. Pure."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from arena.bots.api.options import (
    ENGINES,
    IMAGE,
    PROGRAM,
    SUBMISSION,
    BadSpec,
    box_name,
    parse_spec,
    threads_of,
)
from arena.ladder.openings import SHIPPED
from arena.maps.setup import DEFAULT_MAP
from arena.protocol.adjudication import DEFAULT_RULES, Adjudication, BadAdjudication
from arena.protocol.timecontrol import BadTimeControl, TimeControl, seconds_of
from arena.rating.formats import FORMATS

NAME_LENGTH = 56
"""Maximum length of a bot's name: the protocol's maximum, less room for the number of a second process."""

EVENT_LENGTH = 100

MAX_THREADS = 1024

MAX_OPENING_PLIES = 100

DEFAULT_TIME = "0.01/move"
DEFAULT_ROUNDS = 10
"""Number of rounds that separates the five engines on the default map, within 90 s on two cores."""

COMMAND = "command:"
"""Prefix, in place of an engine, for the command line of a bot that connects by itself."""

DEFAULT_ENGINES = ("random", "greedy", "minimax", "alphabeta", "jamboree")


class BadLadder(ValueError):
    """Raised for an invalid ladder; names the file, the key, the reason, and a valid form."""


@dataclass(frozen=True)
class BotPlan:
    """A bot of the ladder: an engine of `arena bot`, or a command that connects by itself."""

    name: str
    engine: str | None = None
    """Bot as `arena bot` takes it: NAME, NAME:option=value, or a file."""
    command: tuple[str, ...] = ()
    """Program and its arguments; it finds ARENA_URL, ARENA_NAME and ARENA_TOKEN in its environment."""
    threads: int = 0
    """Number of search threads; with more than one, fewer matches run in parallel. 0 for the engine's own choice."""

    time_control: TimeControl | None = None
    """Time control of this bot if it differs from the ladder's (time odds)."""

    @property
    def description(self) -> str:
        """Return a description of the engine; empty for a bot that connects by itself."""
        return self.engine if self.engine is not None else " ".join(self.command)

    def required_threads(self, cores: int) -> int:
        """Return the number of threads that the bot needs on `cores` cores; 0 if only the bot knows."""
        if self.threads or self.engine is None:
            return self.threads
        try:
            return threads_of(parse_spec(self.engine, ENGINES), cores)
        except BadSpec:  # a file's bot, or an engine that reports the error itself
            return 1


@dataclass(frozen=True)
class LadderPlan:
    """Plan of a whole ladder, before anything runs."""

    bots: tuple[BotPlan, ...]
    event: str = "ladder"
    game: str = "riskless"
    maps: tuple[str, ...] = (DEFAULT_MAP,)
    time_control: TimeControl = field(default_factory=lambda: TimeControl.parse(DEFAULT_TIME))
    margin_ms: int = 100
    format: str = "round-robin"
    """Name of the format, one of rating.formats.FORMATS."""
    rounds: int | None = DEFAULT_ROUNDS
    """Number of pairs of every two bots on each map; None to play until `seconds` have passed."""
    seconds: float = math.inf
    """Time during which matches may begin, in seconds."""
    openings: int | Path | Literal["shipped"] = SHIPPED
    """Number of random plies before the bots begin, a file of openings, or the openings shipped with each map."""
    adjudication: Adjudication | None = DEFAULT_RULES
    concurrency: int = 0
    """Number of matches in parallel; 0 for as many as the cores allow."""
    pin: bool = False
    """True to pin the bots of a running match to their own cores."""
    seed: int = 1
    folder: Path | None = None
    """Working folder of the bots: the folder of the ladder file; None for the current folder."""


def odds_of(bots: Iterable[BotPlan]) -> dict[str, str]:
    """Return the time controls of bots whose time control differs from the ladder's, by name."""
    return {bot.name: str(bot.time_control) for bot in bots if bot.time_control is not None}


def unique_bots(plans: Iterable[BotPlan]) -> tuple[BotPlan, ...]:
    """Return the same bots under distinct names: the second `greedy` becomes `greedy-2`."""
    by_name: dict[str, BotPlan] = {}
    for plan in plans:
        name, number = plan.name, 1
        while name in by_name:
            number += 1
            name = f"{plan.name}-{number}"
        by_name[name] = replace(plan, name=name)
    return tuple(by_name.values())


def engine_bot(engine: str) -> BotPlan:
    """Return the bot of an engine, named after its file or its engine.

    The prefix `exec:` is for the command line of a program that plays by lines of JSON, `command:` for that of a program
    that connects by itself, `image:` and `submit:` for a bot in a box. Raises BadLadder.
    """
    if engine.startswith((IMAGE, SUBMISSION)):
        return BotPlan(allowed_name(box_name(engine)), engine)
    if engine.startswith(COMMAND):
        return command_bot(engine.removeprefix(COMMAND))
    path, colon, options = engine.partition(":")
    base = Path(path).stem if path.endswith(".py") else path
    name = _program_name(options.split()) if engine.startswith(PROGRAM) else f"{base}{colon}{options}"
    return BotPlan(allowed_name(name), engine, threads=_threads_of(options))


def command_bot(line: str) -> BotPlan:
    """Return the bot of a command line that connects by itself. Raises BadLadder."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise BadLadder(f"{line!r:.100} is not a valid command line: {error}") from None
    if not words:
        raise BadLadder(
            f"{COMMAND} must be followed by a program and its arguments, e.g. {COMMAND}node my_bot.js"
        )
    return BotPlan(allowed_name(_program_name(words)), None, tuple(words))


def allowed_name(name: str) -> str:
    """Return `name` if it is valid for a bot in a ladder, or else a valid name close to it."""
    printed = "".join(char if char.isprintable() and char != "#" else "?" for char in name)
    return printed[:NAME_LENGTH].strip() or "?"


def _program_name(words: Sequence[str]) -> str:
    """Return a program's name: the first file with a suffix in its command line, or else the program itself."""
    if not words:
        return "?"
    return Path(next((word for word in words[1:] if Path(word).suffix), words[0])).stem


def _threads_of(options: str) -> int:
    """Return the thread count set in an engine's options, or 0 if none is set. The engine validates the options later."""
    options_map = dict(option.partition("=")[::2] for option in options.split(","))
    number = options_map.get("threads", "")
    return int(number) if number.isdecimal() and 1 <= int(number) <= MAX_THREADS else 0


def duration(text: str, where: str) -> float:
    """Return the seconds of a duration such as `10m`; infinity for `ever`. Raise BadLadder."""
    try:
        return seconds_of(text)
    except ValueError as error:
        raise BadLadder(f"{where}: {error}") from None


def time_control(text: str, where: str) -> TimeControl:
    """Parse a time control. Raises BadLadder."""
    try:
        return TimeControl.parse(text)
    except BadTimeControl as error:
        raise BadLadder(f"{where}: {error}") from None


def adjudication(rules: str | Mapping[str, object], where: str) -> Adjudication | None:
    """Parse the rules of adjudication, given as a text or as a table. Raises BadLadder."""
    try:
        return Adjudication.parse(rules) if isinstance(rules, str) else Adjudication.convert(rules)
    except BadAdjudication as error:
        raise BadLadder(f"{where}: {error}") from None


def event_name(text: str, where: str) -> str:
    """Return the text if it is a valid event name. Raises BadLadder."""
    if not 1 <= len(text) <= EVENT_LENGTH or not text.isprintable():
        raise BadLadder(f"{where}: must be 1 to {EVENT_LENGTH} printable characters")
    return text


def openings(text: str, folder: Path | None = None) -> int | Path | Literal["shipped"]:
    """Parse `--openings`: a number of plies, the word `shipped`, or a file of openings. Raises BadLadder."""
    if text == SHIPPED:
        return SHIPPED
    if not text.isdecimal():
        return (folder or Path()) / text
    if int(text) > MAX_OPENING_PLIES:
        raise BadLadder(f"openings: must be at most {MAX_OPENING_PLIES} plies, not {text}")
    return int(text)


def format_name(name: str, where: str) -> str:
    """Return `name` if it is a known format. Raises BadLadder, which mentions `where` it was given."""
    if name not in FORMATS:
        raise BadLadder(f"{where}: must be one of {', '.join(FORMATS)}, not {name!r:.40}")
    return name
