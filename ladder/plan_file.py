"""Plan of a ladder (bots, game, rounds, time control) in a TOML file. `examples/ladder.toml` shows every key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta, Struct, field

from arena.bots.api.engine_spec import (
    IMAGE_SPEC_PREFIX,
    PROGRAM_SPEC_PREFIX,
    SUBMISSION_IMAGE_SEPARATOR,
    SUBMISSION_SPEC_PREFIX,
)
from arena.games.loading import is_file_spec
from arena.ladder.event_openings import SHIPPED_OPENINGS
from arena.ladder.plan import (
    DEFAULT_ROUNDS,
    DEFAULT_TIME_CONTROL,
    MAX_BOT_NAME_LENGTH,
    MAX_SEARCH_THREADS_PER_BOT,
    BadLadderPlan,
    BotPlan,
    LadderPlan,
    make_bot_names_unique,
    make_engine_bot_plan,
    make_valid_bot_name,
    parse_openings_setting,
    validate_event_name,
    validate_ladder_format,
)
from arena.protocol.adjudication import NO_ADJUDICATION, Adjudication
from arena.protocol.timecontrol import TimeControl, parse_duration
from arena.toml_file import BadTomlFile, NonBlankText, TomlFile


class BotTable(Struct, frozen=True, kw_only=True):
    """Keys of a [[bots]] table, which describes one bot.

    Exactly one of `engine`, `exec`, `command`, `image` and `submit` is given, except that `submit` may have an `image`.
    """

    name: str | None = None
    engine: NonBlankText | None = None
    program: NonBlankText | None = field(name="exec", default=None)
    command: tuple[NonBlankText, ...] = ()
    image: NonBlankText | None = None
    submit: NonBlankText | None = None
    """Zip file with the bot; None if another key gives the bot. With a zip file, `image` is the image of its container."""
    time_control: str | None = None
    threads: Annotated[int, Meta(ge=1, le=MAX_SEARCH_THREADS_PER_BOT)] = 0


class LadderTable(Struct, frozen=True, kw_only=True):
    """Keys of a ladder file (TOML)."""

    event: str = LadderPlan.event_name
    game: NonBlankText = LadderPlan.game
    maps: Annotated[tuple[NonBlankText, ...], Meta(min_length=1)] = LadderPlan.maps
    time_control: str = DEFAULT_TIME_CONTROL
    margin: Annotated[int, Meta(ge=0, le=60_000)] = LadderPlan.margin_ms
    format: str = LadderPlan.format
    rounds: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    """Number of rounds. None stands for DEFAULT_ROUNDS, or for no limit if the key `for` limits the time of the ladder."""
    play_duration: str | None = field(name="for", default=None)
    openings: int | NonBlankText = SHIPPED_OPENINGS
    adjudicate: dict[str, Any] | str | None = None
    concurrency: Annotated[int, Meta(ge=0, le=1024)] = LadderPlan.concurrency
    pin: bool = LadderPlan.should_pin_bots
    seed: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] = LadderPlan.seed
    bots: tuple[BotTable, ...] = ()


def read_ladder_file(path: Path) -> LadderPlan:
    """Read the plan of a ladder from a TOML file. Raises BadLadderPlan if the plan is invalid."""
    try:
        file = TomlFile.read_file(path)
        return _make_ladder_plan(file, file.convert_to_struct(LadderTable), path.resolve().parent)
    except BadTomlFile as error:
        raise BadLadderPlan(str(error)) from None


def _make_ladder_plan(file: TomlFile, table: LadderTable, folder: Path) -> LadderPlan:
    default_rounds = DEFAULT_ROUNDS if table.play_duration is None else None
    return LadderPlan(
        bots=_make_bot_plans(file, table.bots),
        event_name=file.parse_value_at(["event"], validate_event_name, table.event),
        # Files of games, maps and openings are found relative to the ladder's file.
        game=str(folder / table.game) if is_file_spec(table.game) else table.game,
        maps=tuple(
            str(folder / name) if name.endswith(".toml") else name
            for name in file.parse_value_at(["maps"], _validate_map_names, table.maps)
        ),
        time_control=file.parse_value_at(["time_control"], TimeControl.parse, table.time_control),
        margin_ms=table.margin,
        format=file.parse_value_at(["format"], validate_ladder_format, table.format),
        rounds=table.rounds or default_rounds,
        max_play_seconds=file.parse_value_at(
            ["for"], parse_duration, "ever" if table.play_duration is None else table.play_duration
        ),
        openings=file.parse_value_at(
            ["openings"], lambda text: parse_openings_setting(text, folder), str(table.openings)
        ),
        adjudication=_parse_adjudication(file, table.adjudicate),
        concurrency=table.concurrency,
        should_pin_bots=table.pin,
        seed=table.seed,
        bot_folder=folder,
    )


def _validate_map_names(maps: Sequence[str]) -> Sequence[str]:
    for name, count in Counter(maps).items():
        if count > 1:
            raise ValueError(f"list {name!r:.60} once, not {count} times; for more matches, raise `rounds`")
    return maps


def _parse_adjudication(file: TomlFile, rules: dict[str, Any] | str | None) -> Adjudication | None:
    if rules is None:
        return LadderPlan.adjudication
    if isinstance(rules, dict):
        return file.parse_value_at(["adjudicate"], Adjudication.from_rule_values, rules)
    if rules != NO_ADJUDICATION:
        valid_form = f'a table, such as {{ limit = 200 }}, or the word "{NO_ADJUDICATION}"'
        raise file.make_error_at(["adjudicate"], f"must be {valid_form}, not {rules!r:.60}")
    return None


def _make_bot_plans(file: TomlFile, tables: Sequence[BotTable]) -> tuple[BotPlan, ...]:
    if len(tables) < 2:
        raise file.make_error_at(
            ["bots"], f"a ladder needs at least two bots, not {len(tables)}: add a [[bots]] table for each"
        )
    names: set[str] = set()
    for index, table in enumerate(tables):
        if table.name is None:
            continue
        if table.name in names:
            raise file.make_error_at(
                ["bots", index, "name"], f"must be unique, but {table.name!r} occurs twice"
            )
        names.add(table.name)
    return make_bot_names_unique(_make_bot_plan(file, table, index) for index, table in enumerate(tables))


def _make_bot_plan(file: TomlFile, table: BotTable, index: int) -> BotPlan:
    if sum(map(bool, (table.engine, table.program, table.command, table.image or table.submit))) != 1:
        raise file.make_error_at(
            ["bots", index], "a bot must have exactly one of engine, exec, command, image and submit"
        )
    if table.name is not None and table.name != make_valid_bot_name(table.name):
        raise file.make_error_at(
            ["bots", index, "name"], f"must be 1 to {MAX_BOT_NAME_LENGTH} printable characters without #"
        )
    if table.command:
        plan = BotPlan(make_valid_bot_name(Path(table.command[0]).name), None, table.command)
    else:
        plan = file.parse_value_at(["bots", index], make_engine_bot_plan, _make_engine_spec(table))
    return replace(
        plan,
        name=table.name or plan.name,
        thread_count=table.threads or plan.thread_count,
        time_control=None
        if table.time_control is None
        else file.parse_value_at(["bots", index, "time_control"], TimeControl.parse, table.time_control),
    )


def _make_engine_spec(table: BotTable) -> str:
    if table.program is not None:
        return f"{PROGRAM_SPEC_PREFIX}{table.program}"
    if table.submit is not None:
        image_option = "" if table.image is None else f"{SUBMISSION_IMAGE_SEPARATOR}{table.image}"
        return f"{SUBMISSION_SPEC_PREFIX}{table.submit}{image_option}"
    return f"{IMAGE_SPEC_PREFIX}{table.image}" if table.engine is None else table.engine
