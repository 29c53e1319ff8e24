"""LADDER.toml, the file of a ladder's plan: checked and typed. `examples/ladder.toml` shows every key."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from arena.bots.api.options import PROGRAM
from arena.games.loading import is_file_spec
from arena.ladder.formats import FORMATS
from arena.ladder.openings import SHIPPED
from arena.ladder.plan import (
    DEFAULT_TIME,
    MOST_THREADS,
    NAME_LENGTH,
    BadLadder,
    BotPlan,
    LadderPlan,
    adjudication,
    allowed_name,
    duration,
    engine_bot,
    event_name,
    format_name,
    openings,
    time_control,
    unique_bots,
)
from arena.protocol.adjudication import NONE, Adjudication
from arena.protocol.duration import DURATIONS

_TIME = '"10+0.1" or "0.1/move", in seconds'
"""The right forms of a time control, for whoever has written another."""


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
        game=_game(
            keys.text("game", LadderPlan.game, "a game's name, or a class of your own, FILE.py:Class"), folder
        ),
        maps=_maps(
            keys.items("maps", list(LadderPlan.maps), 'a list of maps, as in ["m2", "my_map.toml"]'), folder
        ),
        time_control=time_control(keys.text("time_control", DEFAULT_TIME, _TIME), "time_control"),
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


def _openings(keys: _Keys, folder: Path) -> int | Path | Literal["shipped"]:
    right = f'a number of plies, the name of a file, or "{SHIPPED}"'
    return openings(str(keys.either("openings", SHIPPED, right)), folder)


def _adjudication(keys: _Keys) -> Adjudication | None:
    table = keys.table_or(
        "adjudicate", NONE, f'a table, as in [adjudicate] and under it limit = 200, or the word "{NONE}"'
    )
    if table is None:
        return LadderPlan.adjudication
    return adjudication(table, "adjudicate")


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
    program = keys.text("exec", "", 'a program that plays by lines of JSON, as in "perl my_bot.pl"')
    own = keys.text("time_control", "", _TIME)
    command = keys.items("command", [], 'a program and its arguments, as in ["python", "my_bot.py"]')
    threads = keys.number("threads", 0, 1, MOST_THREADS, "threads that it searches with")
    keys.finish()
    if sum(map(bool, (engine, program, command))) != 1:
        raise BadLadder(f"{where}: a bot has an engine, an exec or a command, one of the three")
    engine = f"{PROGRAM}{program}" if program else engine
    if not all(isinstance(word, str) and word for word in command):
        raise BadLadder(f'{where}: command: must be texts, as in ["python", "my_bot.py"]')
    if name and name != allowed_name(name):
        raise BadLadder(f"{where}: name: must be 1 to {NAME_LENGTH} printed characters without #")
    words = tuple(str(word) for word in command)
    plan = engine_bot(engine) if engine else BotPlan(allowed_name(Path(words[0]).name), None, words)
    return replace(
        plan,
        name=name or plan.name,
        threads=threads or plan.threads,
        time_control=time_control(own, "time_control") if own else None,
    )


def _game(spec: str, folder: Path) -> str:
    # A game's file lies beside the ladder's.
    return str(folder / spec) if is_file_spec(spec) else spec


def _maps(names: list[object], folder: Path) -> tuple[str, ...]:
    if not names or not all(isinstance(name, str) and name for name in names):
        raise BadLadder('maps: must be a list of one map or more, as in ["m2", "my_map.toml"]')
    if len(set(names)) < len(names):
        raise BadLadder("maps: one is there twice: for more matches raise `rounds`")
    # A map's file lies beside the ladder's.
    return tuple(str(folder / name) if name.endswith(".toml") else name for name in map(str, names))


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

    def table_or(self, key: str, word: str, right: str) -> Mapping[str, object] | str | None:
        value = self._take(key)
        if value is None or value == word:
            return word if value else None
        if not isinstance(value, dict):
            raise self._wrong(key, right)
        return value

    def finish(self) -> None:
        for key in self._table:
            if key not in self._known:
                near = get_close_matches(key, self._known, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(self._known)}"
                raise BadLadder(f"{self._where}{key}: there is no such key; {hint}")
