"""What a ladder is made of before anything runs, and the texts that a file and a command line give for it. Pure."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from arena.bots.api.options import ENGINES, PROGRAM, BadSpec, parse_spec, threads_of
from arena.ladder.formats import FORMATS
from arena.ladder.openings import SHIPPED
from arena.maps.setup import DEFAULT_MAP
from arena.protocol.adjudication import DEFAULT_RULES, Adjudication, BadAdjudication
from arena.protocol.duration import seconds_of
from arena.protocol.timecontrol import BadTimeControl, TimeControl

NAME_LENGTH = 56
"""Characters of a bot's name: what the protocol allows, less room for the number of a second process."""

EVENT_LENGTH = 100

MOST_THREADS = 1024

MOST_OPENING_PLIES = 100

DEFAULT_TIME = "0.01/move"
DEFAULT_ROUNDS = 10
"""With this time the five engines on the default map: enough pairs to tell them apart, within 90 s on two cores."""

COMMAND = "command:"
"""Stands before the command line of a bot that connects by itself, where an engine is named."""

DEFAULT_ENGINES = ("random", "greedy", "minimax", "alphabeta", "jamboree")


class BadLadder(ValueError):
    """A ladder that cannot be: says the file, the key, why, and what would be right."""


@dataclass(frozen=True)
class BotPlan:
    """A bot of the ladder: an engine of `arena bot`, or a command that connects by itself."""

    name: str
    engine: str | None = None
    """What `arena bot` takes: NAME, NAME:option=value, or a file."""
    command: tuple[str, ...] = ()
    """A program and its arguments; it finds ARENA_URL, ARENA_NAME and ARENA_TOKEN in its environment."""
    threads: int = 0
    """How many threads it searches with; with more than one, fewer matches are played at once. 0: what its engine asks for."""

    time_control: TimeControl | None = None
    """Its own, where it has not that of the ladder: time odds."""

    @property
    def what(self) -> str:
        """What plays, in words; empty for one that dials in."""
        return self.engine if self.engine is not None else " ".join(self.command)

    def asks(self, cores: int) -> int:
        """How many threads it asks for in a match on so many cores; 0 where only the bot itself knows."""
        if self.threads or self.engine is None:
            return self.threads
        try:
            return threads_of(parse_spec(self.engine, ENGINES), cores)
        except BadSpec:  # of a file, or of an engine that will say itself what is wrong
            return 1


@dataclass(frozen=True)
class LadderPlan:
    """A whole ladder, before anything runs."""

    bots: tuple[BotPlan, ...]
    event: str = "ladder"
    game: str = "riskless"
    maps: tuple[str, ...] = (DEFAULT_MAP,)
    time_control: TimeControl = field(default_factory=lambda: TimeControl.parse(DEFAULT_TIME))
    margin_ms: int = 100
    format: str = "round-robin"
    """One of ladder.formats.FORMATS."""
    rounds: int | None = DEFAULT_ROUNDS
    """How many pairs every two bots play on each map; None: without end, until `seconds` are over."""
    seconds: float = math.inf
    """For how many seconds matches may begin."""
    openings: int | Path | Literal["shipped"] = SHIPPED
    """Random plies before the bots begin, a file with a list, or what each map brings with it."""
    adjudication: Adjudication | None = DEFAULT_RULES
    concurrency: int = 0
    """Matches at once; 0: as many as the cores allow."""
    pin: bool = False
    """Whether the bots of a running match are kept on cores of their own."""
    seed: int = 1
    folder: Path | None = None
    """Where bots run, so that their files are found beside the ladder's; None: here."""


def odds_of(bots: Iterable[BotPlan]) -> dict[str, str]:
    """The times of those bots that have one of their own, by name."""
    return {bot.name: str(bot.time_control) for bot in bots if bot.time_control is not None}


def unique_bots(plans: Iterable[BotPlan]) -> tuple[BotPlan, ...]:
    """The same bots under names that differ: the second `greedy` is `greedy-2`."""
    taken: dict[str, BotPlan] = {}
    for plan in plans:
        name, number = plan.name, 1
        while name in taken:
            number += 1
            name = f"{plan.name}-{number}"
        taken[name] = replace(plan, name=name)
    return tuple(taken.values())


def engine_bot(engine: str) -> BotPlan:
    """The bot of an engine, named after it: a file's bot by the file's name, others as they are asked for.

    After `exec:` comes the command line of a program that plays by lines of JSON, after `command:` that of one that
    connects by itself. Raises BadLadder.
    """
    if engine.startswith(COMMAND):
        return command_bot(engine.removeprefix(COMMAND))
    path, colon, options = engine.partition(":")
    base = Path(path).stem if path.endswith(".py") else path
    name = _program_name(options.split()) if engine.startswith(PROGRAM) else f"{base}{colon}{options}"
    return BotPlan(allowed_name(name), engine, threads=_threads_of(options))


def command_bot(line: str) -> BotPlan:
    """The bot of a command line that connects by itself. Raises BadLadder."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise BadLadder(f"{line!r:.100} is no command line: {error}") from None
    if not words:
        raise BadLadder(f"after {COMMAND} comes a program and its arguments, as in {COMMAND}node my_bot.js")
    return BotPlan(allowed_name(_program_name(words)), None, tuple(words))


def allowed_name(name: str) -> str:
    """A bot's name as it may be in a ladder, and as close to this one as that can be: itself where it may."""
    printed = "".join(char if char.isprintable() and char != "#" else "?" for char in name)
    return printed[:NAME_LENGTH].strip() or "?"


def _program_name(words: Sequence[str]) -> str:
    """What a program is called: by the file in its command line that has a suffix, else by the program itself."""
    if not words:
        return "?"
    return Path(next((word for word in words[1:] if Path(word).suffix), words[0])).stem


def _threads_of(options: str) -> int:
    """What an engine's options say of its threads, 0 for nothing; whether they are right is for the engine to say."""
    told = dict(option.partition("=")[::2] for option in options.split(","))
    number = told.get("threads", "")
    return int(number) if number.isdecimal() and 1 <= int(number) <= MOST_THREADS else 0


def duration(text: str, where: str) -> float:
    """How many seconds `10m` is; `ever` is without end. Raises BadLadder."""
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
    """The text, if it can be an event's name. Raises BadLadder."""
    if not 1 <= len(text) <= EVENT_LENGTH or not text.isprintable():
        raise BadLadder(f"{where}: must be 1 to {EVENT_LENGTH} printed characters")
    return text


def openings(text: str, folder: Path | None = None) -> int | Path | Literal["shipped"]:
    """What `--openings` says: a number of plies, the word `shipped`, or else the file of a list. Raises BadLadder."""
    if text == SHIPPED:
        return SHIPPED
    if not text.isdecimal():
        return (folder or Path()) / text
    if int(text) > MOST_OPENING_PLIES:
        raise BadLadder(f"openings: at most {MOST_OPENING_PLIES} plies, not {text}")
    return int(text)


def format_name(name: str, where: str) -> str:
    """The name of a format, as it is. Raises BadLadder, with `where` it was given."""
    if name not in FORMATS:
        raise BadLadder(f"{where}: must be one of {', '.join(FORMATS)}, not {name!r:.40}")
    return name
