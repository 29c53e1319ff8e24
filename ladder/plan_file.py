"""Parse a ladder's plan from a TOML file. `examples/ladder.toml` shows every key."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeVar

from arena.bots.api.engine_spec import IMAGE_PREFIX, IMAGE_SEPARATOR, PROGRAM_PREFIX, SUBMISSION_PREFIX
from arena.games.loading import is_file_spec
from arena.games.name_hints import find_most_similar
from arena.ladder.event_openings import SHIPPED_OPENINGS
from arena.ladder.plan import (
    DEFAULT_TIME_CONTROL,
    MAX_NAME_LENGTH,
    MAX_THREADS,
    BadLadder,
    BotPlan,
    LadderPlan,
    check_event_name,
    check_format,
    make_names_unique,
    make_valid_name,
    parse_openings,
    parse_setting,
    plan_engine_bot,
)
from arena.protocol.adjudication import NO_RULES, Adjudication
from arena.protocol.timecontrol import DURATION_FORMS, TimeControl, parse_duration
from arena.rating.formats import FORMATS

T = TypeVar("T")
_TIME_FORMS = '"10+0.1" or "0.1/move", in seconds'
"""Forms of a time control, for error messages."""


def read_ladder(path: Path) -> LadderPlan:
    """Read the plan of a ladder from a TOML file. Raises BadLadder if the plan is invalid."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadLadder(f"{path}: {error.strerror or error}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadLadder(f"{path}: not valid TOML: {error}") from None
    try:
        return _parse_plan(data, path.resolve().parent)
    except BadLadder as error:
        raise BadLadder(f"{path}: {error}") from None


def _parse_plan(data: Mapping[str, object], folder: Path) -> LadderPlan:
    keys = _KeyReader(data, "")
    seconds = keys.parse_text("for", "ever", DURATION_FORMS, parse_duration)
    rounds = keys.read_number(
        "rounds", LadderPlan.rounds or 0, 1, 1_000_000, "pairs of every two bots on each map"
    )
    bots = keys.read("bots", list[object](), "one or more [[bots]] tables")
    plan = LadderPlan(
        bots=(),
        event=keys.parse_text("event", LadderPlan.event, 'a name, as in "spring"', check_event_name),
        game=_resolve_game(
            keys.read_text("game", LadderPlan.game, "a game's name, or a class of your own, FILE.py:Class"),
            folder,
        ),
        maps=_resolve_maps(
            keys.read("maps", [*LadderPlan.maps], 'a list of maps, as in ["m2", "my_map.toml"]'), folder
        ),
        time_control=keys.parse_text("time_control", DEFAULT_TIME_CONTROL, _TIME_FORMS, TimeControl.parse),
        margin_ms=keys.read_number("margin", LadderPlan.margin_ms, 0, 60_000, "milliseconds"),
        format=keys.parse_text("format", LadderPlan.format, f"one of {', '.join(FORMATS)}", check_format),
        rounds=rounds if "rounds" in data or "for" not in data else None,
        seconds=seconds,
        openings=_parse_openings(keys, folder),
        adjudication=_parse_adjudication(keys),
        concurrency=keys.read_number(
            "concurrency", LadderPlan.concurrency, 0, 1024, "parallel matches; 0: as many as the cores allow"
        ),
        pin=keys.read("pin", LadderPlan.pin, "true or false"),
        seed=keys.read_number("seed", LadderPlan.seed, -(2**63), 2**63 - 1, "any whole number"),
        folder=folder,
    )
    # This comes before the bots, so that a misspelt table [[bot]] is reported instead of missing [[bots]].
    keys.reject_unknown()
    return replace(plan, bots=_parse_bots(bots))


def _parse_openings(keys: _KeyReader, folder: Path) -> int | Path | Literal["shipped"]:
    value = keys.read_unchecked("openings")
    if value is None:
        return SHIPPED_OPENINGS
    if type(value) not in (int, str) or str(value).strip() in {"", "-"}:
        raise keys.make_value_error(
            "openings", f'a number of plies, the name of a file, or "{SHIPPED_OPENINGS}"'
        )
    return parse_setting(lambda text: parse_openings(text, folder), str(value), "openings")


def _parse_adjudication(keys: _KeyReader) -> Adjudication | None:
    value = keys.read_unchecked("adjudicate")
    if value is None:
        return LadderPlan.adjudication
    if value == NO_RULES:
        return None
    if not isinstance(value, dict):
        valid_form = f'a table, as in [adjudicate] and under it limit = 200, or the word "{NO_RULES}"'
        raise keys.make_value_error("adjudicate", valid_form)
    return parse_setting(Adjudication.convert, value, "adjudicate")


def _parse_bots(tables: Sequence[object]) -> tuple[BotPlan, ...]:
    plans: list[BotPlan] = []
    names: set[str] = set()
    for number, table in enumerate(tables, 1):
        location = f"bots, number {number}"
        if not isinstance(table, dict):
            raise BadLadder(
                f'{location}: a bot must be a table: write [[bots]], and under it engine = "greedy"'
            )
        plan = _parse_bot(_KeyReader(table, f"{location}: "), location)
        if "name" in table:
            if plan.name in names:
                raise BadLadder(f"{location}: name: must be unique, but {plan.name!r} occurs twice")
            names.add(plan.name)
        plans.append(plan)
    if len(plans) < 2:
        raise BadLadder(
            f"bots: a ladder needs at least two bots, not {len(plans)}: add a [[bots]] table for each"
        )
    return make_names_unique(plans)


def _parse_bot(keys: _KeyReader, location: str) -> BotPlan:
    name = keys.read_text("name", "", "the name of the bot")
    engine = keys.read_text("engine", "", "an engine as for `arena bot`: NAME, NAME:option=value, or a file")
    program = keys.read_text("exec", "", 'a program that speaks JSON Lines, as in "perl my_bot.pl"')
    image = keys.read_text("image", "", 'a container image, as in "NAME@sha256:DIGEST"')
    submission = keys.read_text("submit", "", 'a zip file with a bot, as in "bot.zip"')
    time_control_text = keys.read_text("time_control", "", _TIME_FORMS)
    command = keys.read(
        "command", list[object](), 'a program and its arguments, as in ["python", "my_bot.py"]'
    )
    threads = keys.read_number("threads", 0, 1, MAX_THREADS, "search threads")
    keys.reject_unknown()
    if sum(map(bool, (engine, program, command, image or submission))) != 1:
        raise BadLadder(f"{location}: a bot must have exactly one of engine, exec, command, image and submit")
    if program:
        engine = f"{PROGRAM_PREFIX}{program}"
    elif submission:
        engine = (
            f"{SUBMISSION_PREFIX}{submission}{IMAGE_SEPARATOR}{image}"
            if image
            else f"{SUBMISSION_PREFIX}{submission}"
        )
    elif image:
        engine = f"{IMAGE_PREFIX}{image}"
    if not all(isinstance(word, str) and word for word in command):
        raise BadLadder(f'{location}: command: must be a list of strings, e.g. ["python", "my_bot.py"]')
    if name and name != make_valid_name(name):
        raise BadLadder(f"{location}: name: must be 1 to {MAX_NAME_LENGTH} printable characters without #")
    words = tuple(str(word) for word in command)
    plan = plan_engine_bot(engine) if engine else BotPlan(make_valid_name(Path(words[0]).name), None, words)
    return replace(
        plan,
        name=name or plan.name,
        threads=threads or plan.threads,
        time_control=parse_setting(TimeControl.parse, time_control_text, f"{location}: time_control")
        if time_control_text
        else None,
    )


def _resolve_game(spec: str, folder: Path) -> str:
    # A game's file is found relative to the ladder's file.
    return str(folder / spec) if is_file_spec(spec) else spec


def _resolve_maps(names: Sequence[object], folder: Path) -> tuple[str, ...]:
    if not names or not all(isinstance(name, str) and name for name in names):
        raise BadLadder('maps: must be a list of at least one map, e.g. ["m2", "my_map.toml"]')
    if len(set(names)) < len(names):
        raise BadLadder("maps: must list each map once; for more matches, raise `rounds`")
    # A map's file is found relative to the ladder's file.
    return tuple(str(folder / name) if name.endswith(".toml") else name for name in map(str, names))


class _KeyReader:
    """Reader of the keys of one table; `reject_unknown` rejects keys that were not read."""

    def __init__(self, table: Mapping[str, object], location: str) -> None:
        self._table = table
        self._location = location
        self._keys: list[str] = []

    def read(
        self, key: str, default: T, valid_form: str, is_valid: Callable[[T], bool] = lambda _: True
    ) -> T:
        """Return the value of `key`, or `default` if it is missing.

        Raises BadLadder for a value of another type than `default`, or an invalid value; `valid_form` describes a valid one.
        """
        self._keys.append(key)
        value = self._table.get(key, default)
        if type(value) is not type(default) or (key in self._table and not is_valid(value)):
            raise self.make_value_error(key, valid_form)
        return value

    def read_text(self, key: str, default: str, valid_form: str) -> str:
        return self.read(key, default, valid_form, lambda text: bool(text.strip()))

    def parse_text(self, key: str, default: str, valid_form: str, parse: Callable[[str], T]) -> T:
        """Return the text of `key` (or `default` if it is missing), parsed by `parse`.

        Raises BadLadder if `parse` raises ValueError, or if the value is not text.
        """
        return parse_setting(parse, self.read_text(key, default, valid_form), f"{self._location}{key}")

    def read_number(self, key: str, default: int, low: int, high: int, unit: str) -> int:
        valid_form = f"a whole number from {low} to {high} ({unit})"
        return self.read(key, default, valid_form, lambda number: low <= number <= high)

    def read_unchecked(self, key: str) -> object:
        """Return the unchecked value of `key`; None if it is missing."""
        self._keys.append(key)
        return self._table.get(key)

    def make_value_error(self, key: str, valid_form: str) -> BadLadder:
        return BadLadder(f"{self._location}{key}: must be {valid_form}, not {self._table[key]!r:.60}")

    def reject_unknown(self) -> None:
        for key in self._table:
            if key not in self._keys:
                similar_key = find_most_similar(key, self._keys)
                hint = (
                    f"did you mean {similar_key!r}?"
                    if similar_key
                    else f"choose from {', '.join(self._keys)}"
                )
                raise BadLadder(f"{self._location}{key}: unknown key; {hint}")
