"""LADDER.toml: what a ladder is made of, checked and typed. `examples/ladder.toml` shows every key."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from protocol.timecontrol import BadTimeControl, TimeControl

NAME_LENGTH = 56
"""Characters of a bot's name: what the protocol allows, less room for the number of a second process."""

EVENT_LENGTH = 100

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


@dataclass(frozen=True)
class LadderPlan:
    """A whole ladder, before anything runs."""

    bots: tuple[BotPlan, ...]
    event: str = "ladder"
    game: str = "riskless"
    maps: tuple[str, ...] = ("m2",)
    time_control: TimeControl = field(default_factory=lambda: TimeControl.parse(DEFAULT_TIME))
    margin_ms: int = 100
    rounds: int = 2
    concurrency: int = 0
    """Matches at once; 0: as many as the cores allow."""
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
        taken[name] = BotPlan(name, plan.engine, plan.command)
    return tuple(taken.values())


def engine_bot(engine: str) -> BotPlan:
    """The bot of an engine, named after it: a file's bot by the file's name, others as they are asked for."""
    path, colon, options = engine.partition(":")
    base = Path(path).stem if path.endswith(".py") else path
    name = f"{base}{colon}{options}"
    printed = "".join(char if char.isprintable() and char != "#" else "?" for char in name)
    return BotPlan(printed[:NAME_LENGTH].strip() or "?", engine)


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
    event = keys.text("event", LadderPlan.event, 'a name, as in "spring"')
    if len(event) > EVENT_LENGTH or not event.isprintable():
        raise BadLadder(f"event: must be 1 to {EVENT_LENGTH} printed characters")
    plan = LadderPlan(
        bots=_bots(keys.items("bots", [], "one or more [[bots]] tables")),
        event=event,
        game=keys.text("game", LadderPlan.game, "riskless or tictactoe"),
        maps=_maps(
            keys.items("maps", list(LadderPlan.maps), 'a list of maps, as in ["m2", "my_map.toml"]'), folder
        ),
        time_control=_time_control(
            keys.text("time_control", DEFAULT_TIME, '"10+0.1" or "0.1/move", in seconds')
        ),
        margin_ms=keys.number("margin", LadderPlan.margin_ms, 0, 60_000, "milliseconds"),
        rounds=keys.number("rounds", LadderPlan.rounds, 1, 1_000_000, "pairs for each two bots on each map"),
        concurrency=keys.number(
            "concurrency", LadderPlan.concurrency, 0, 1024, "matches at once; 0: by the cores"
        ),
        seed=keys.number("seed", LadderPlan.seed, -(2**63), 2**63 - 1, "any whole number"),
        folder=folder,
    )
    keys.finish()
    return plan


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
    keys.finish()
    if bool(engine) == bool(command):
        raise BadLadder(f"{where}: a bot has an engine or a command, one of the two")
    if not all(isinstance(word, str) and word for word in command):
        raise BadLadder(f'{where}: command: must be texts, as in ["python", "my_bot.py"]')
    if len(name) > NAME_LENGTH or not name.isprintable() or "#" in name or name != name.strip():
        raise BadLadder(f"{where}: name: must be 1 to {NAME_LENGTH} printed characters without #")
    words = tuple(str(word) for word in command)
    plan = engine_bot(engine) if engine else BotPlan(Path(words[0]).name[:NAME_LENGTH], None, words)
    return BotPlan(name, plan.engine, plan.command) if name else plan


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

    def items(self, key: str, default: list[object], right: str) -> list[object]:
        value = self._take(key)
        if value is None:
            return default
        if not isinstance(value, list):
            raise self._wrong(key, right)
        return value

    def finish(self) -> None:
        for key in self._table:
            if key not in self._known:
                near = get_close_matches(key, self._known, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(self._known)}"
                raise BadLadder(f"{self._where}{key}: there is no such key; {hint}")
