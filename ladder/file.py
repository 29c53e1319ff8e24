"""LADDER.toml: what a ladder is made of, checked and typed. `examples/ladder.toml` shows every key."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from ladder.formats import FORMATS
from protocol.adjudication import Adjudication, BadAdjudication
from protocol.timecontrol import BadTimeControl, TimeControl

NAME_LENGTH = 56
"""Characters of a bot's name: what the protocol allows, less room for the number of a second process."""

EVENT_LENGTH = 100

MOST_THREADS = 1024

MOST_OPENING_PLIES = 100

DEFAULT_TIME = "0.05/move"
"""With two rounds of the five engines on m2: a ladder of about two minutes on two cores."""

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
    threads: int = 1
    """How many it searches with; fewer matches are then played at once."""

    @property
    def what(self) -> str:
        """What plays, in words; empty for one that dials in."""
        return self.engine if self.engine is not None else " ".join(self.command)


@dataclass(frozen=True)
class LadderPlan:
    """A whole ladder, before anything runs."""

    bots: tuple[BotPlan, ...]
    event: str = "ladder"
    game: str = "riskless"
    maps: tuple[str, ...] = ("m2",)
    time_control: TimeControl = field(default_factory=lambda: TimeControl.parse(DEFAULT_TIME))
    margin_ms: int = 100
    format: str = "round-robin"
    """One of ladder.formats.FORMATS."""
    rounds: int | None = 2
    """None: without end, until `seconds` are over."""
    seconds: float = math.inf
    """No match begins after so many."""
    openings: int | Path = 0
    """Random plies before the bots begin, or a file with a list."""
    adjudication: Adjudication | None = None
    concurrency: int = 0
    """Matches at once; 0: as many as the cores allow."""
    pin: bool = False
    """Whether the bots of a running match are kept on cores of their own."""
    seed: int = 1
    folder: Path | None = None
    """Where bots run, so that their files are found beside the ladder's; None: here."""


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
    """The bot of an engine, named after it: a file's bot by the file's name, others as they are asked for."""
    path, colon, options = engine.partition(":")
    base = Path(path).stem if path.endswith(".py") else path
    name = f"{base}{colon}{options}"
    printed = "".join(char if char.isprintable() and char != "#" else "?" for char in name)
    return BotPlan(printed[:NAME_LENGTH].strip() or "?", engine, threads=_threads_of(options))


def _threads_of(options: str) -> int:
    """What an engine's options say of its threads; whether they are right is for the engine to say."""
    told = dict(option.partition("=")[::2] for option in options.split(","))
    number = told.get("threads", "")
    return int(number) if number.isdecimal() and 1 <= int(number) <= MOST_THREADS else 1


def read_ladder(path: Path) -> LadderPlan:
    """The ladder that a file describes. Raises BadLadder."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadLadder(f"{path}: {error.strerror or error}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadLadder(f"{path}: not TOML: {error}") from None
    try:
        return _plan(data, path.resolve().parent)
    except BadLadder as error:
        raise BadLadder(f"{path}: {error}") from None


def _plan(data: Mapping[str, object], folder: Path) -> LadderPlan:
    keys = _Keys(data, "")
    seconds = duration(keys.text("for", "", DURATIONS), "for") if "for" in data else math.inf
    rounds = keys.number(
        "rounds", LadderPlan.rounds or 0, 1, 1_000_000, "pairs for each two bots on each map"
    )
    plan = LadderPlan(
        bots=_bots(keys.items("bots", [], "one or more [[bots]] tables")),
        event=event_name(keys.text("event", LadderPlan.event, 'a name, as in "spring"'), "event"),
        game=keys.text("game", LadderPlan.game, "riskless or tictactoe"),
        maps=_maps(
            keys.items("maps", list(LadderPlan.maps), 'a list of maps, as in ["m2", "my_map.toml"]'), folder
        ),
        time_control=_time_control(
            keys.text("time_control", DEFAULT_TIME, '"10+0.1" or "0.1/move", in seconds')
        ),
        margin_ms=keys.number("margin", LadderPlan.margin_ms, 0, 60_000, "milliseconds"),
        format=format_name(keys.text("format", LadderPlan.format, f"one of {', '.join(FORMATS)}"), "format"),
        rounds=rounds if "rounds" in data or "for" not in data else None,
        seconds=seconds,
        openings=_openings(keys, folder),
        adjudication=_adjudication(keys),
        concurrency=keys.number(
            "concurrency", LadderPlan.concurrency, 0, 1024, "matches at once; 0: by the cores"
        ),
        pin=keys.flag("pin", default=LadderPlan.pin),
        seed=keys.number("seed", LadderPlan.seed, -(2**63), 2**63 - 1, "any whole number"),
        folder=folder,
    )
    keys.finish()
    return plan


DURATIONS = "30s, 10m, 2h, or ever"


def duration(text: str, where: str) -> float:
    """How many seconds `10m` is; `ever` is without end. Raises BadLadder."""
    if text == "ever":
        return math.inf
    units = {"s": 1, "m": 60, "h": 3600}
    try:
        seconds = float(text[:-1]) * units[text[-1:]]
    except (ValueError, KeyError):
        raise BadLadder(f"{where}: must be as in {DURATIONS}, not {text!r:.40}") from None
    if not 0 < seconds < math.inf:
        raise BadLadder(f"{where}: must be more than nothing, as in {DURATIONS}")
    return seconds


def event_name(text: str, where: str) -> str:
    """The text, if it can be an event's name. Raises BadLadder."""
    if not 1 <= len(text) <= EVENT_LENGTH or not text.isprintable():
        raise BadLadder(f"{where}: must be 1 to {EVENT_LENGTH} printed characters")
    return text


def openings(text: str, folder: Path | None = None) -> int | Path:
    """What `--openings` says: a number of plies, or else the file of a list. Raises BadLadder."""
    if not text.isdecimal():
        return (folder or Path()) / text
    if int(text) > MOST_OPENING_PLIES:
        raise BadLadder(f"openings: at most {MOST_OPENING_PLIES} plies, not {text}")
    return int(text)


def _openings(keys: _Keys, folder: Path) -> int | Path:
    return openings(str(keys.either("openings", 0, "a number of plies, or the name of a file")), folder)


def _adjudication(keys: _Keys) -> Adjudication | None:
    table = keys.table("adjudicate", "a table: write [adjudicate], and under it limit = 200")
    try:
        return Adjudication.convert(table) if table is not None else None
    except BadAdjudication as error:
        raise BadLadder(f"adjudicate: {error}") from None


def format_name(name: str, where: str) -> str:
    """The name of a format, as it is. Raises BadLadder, with `where` it was given."""
    if name not in FORMATS:
        raise BadLadder(f"{where}: must be one of {', '.join(FORMATS)}, not {name!r:.40}")
    return name


def _bots(tables: list[object]) -> tuple[BotPlan, ...]:
    plans: list[BotPlan] = []
    named: set[str] = set()
    for number, table in enumerate(tables, 1):
        where = f"bots, number {number}"
        if not isinstance(table, dict):
            raise BadLadder(f'{where}: a bot is a table: write [[bots]], and under it engine = "greedy"')
        plan = _bot(_Keys(table, f"{where}: "), where)
        if "name" in table:
            if plan.name in named:
                raise BadLadder(f"{where}: name: another is called {plan.name!r} too: give each its own")
            named.add(plan.name)
        plans.append(plan)
    if len(plans) < 2:
        raise BadLadder(
            f"bots: a ladder needs two bots or more, and has {len(plans)}: add a [[bots]] table for each"
        )
    return unique_bots(plans)


def _bot(keys: _Keys, where: str) -> BotPlan:
    name = keys.text("name", "", "a name of its own")
    engine = keys.text("engine", "", "as `arena bot` takes it: NAME, NAME:option=value, or a file")
    command = keys.items("command", [], 'a program and its arguments, as in ["python", "my_bot.py"]')
    threads = keys.number("threads", 0, 1, MOST_THREADS, "threads that it searches with")
    keys.finish()
    if bool(engine) == bool(command):
        raise BadLadder(f"{where}: a bot has an engine or a command, one of the two")
    if not all(isinstance(word, str) and word for word in command):
        raise BadLadder(f'{where}: command: must be texts, as in ["python", "my_bot.py"]')
    if len(name) > NAME_LENGTH or not name.isprintable() or "#" in name or name != name.strip():
        raise BadLadder(f"{where}: name: must be 1 to {NAME_LENGTH} printed characters without #")
    words = tuple(str(word) for word in command)
    plan = engine_bot(engine) if engine else BotPlan(Path(words[0]).name[:NAME_LENGTH], None, words)
    return replace(plan, name=name or plan.name, threads=threads or plan.threads)


def _maps(names: list[object], folder: Path) -> tuple[str, ...]:
    if not names or not all(isinstance(name, str) and name for name in names):
        raise BadLadder('maps: must be a list of one map or more, as in ["m2", "my_map.toml"]')
    if len(set(names)) < len(names):
        raise BadLadder("maps: one is there twice: for more matches raise `rounds`")
    # A map's file lies beside the ladder's.
    return tuple(str(folder / name) if name.endswith(".toml") else name for name in map(str, names))


def _time_control(text: str) -> TimeControl:
    try:
        return TimeControl.parse(text)
    except BadTimeControl as error:
        raise BadLadder(f"time_control: {error}") from None


class _Keys:
    """The keys of one table, taken one by one; `finish` complains of what was not taken."""

    def __init__(self, table: Mapping[str, object], where: str) -> None:
        self._table = table
        self._where = where
        self._known: list[str] = []

    def _take(self, key: str) -> object:
        self._known.append(key)
        return self._table.get(key)

    def _wrong(self, key: str, right: str) -> BadLadder:
        return BadLadder(f"{self._where}{key}: must be {right}, not {self._table[key]!r:.60}")

    def text(self, key: str, default: str, right: str) -> str:
        value = self._take(key)
        if value is None:
            return default
        if not isinstance(value, str) or not value.strip():
            raise self._wrong(key, right)
        return value

    def number(self, key: str, default: int, low: int, high: int, unit: str) -> int:
        value = self._take(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self._wrong(key, f"a whole number from {low} to {high} ({unit})")
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        value = self._take(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false")
        return value

    def either(self, key: str, default: int | str, right: str) -> int | str:
        value = self._take(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | str) or str(value).strip() in {"", "-"}:
            raise self._wrong(key, right)
        return value

    def items(self, key: str, default: list[object], right: str) -> list[object]:
        value = self._take(key)
        if value is None:
            return default
        if not isinstance(value, list):
            raise self._wrong(key, right)
        return value

    def table(self, key: str, right: str) -> Mapping[str, object] | None:
        value = self._take(key)
        if value is not None and not isinstance(value, dict):
            raise self._wrong(key, right)
        return value

    def finish(self) -> None:
        for key in self._table:
            if key not in self._known:
                near = get_close_matches(key, self._known, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(self._known)}"
                raise BadLadder(f"{self._where}{key}: there is no such key; {hint}")
