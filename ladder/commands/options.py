"""Options shared by `arena ladder` and `arena match`, and functions that apply them to the plan of a ladder."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.console import UsageError, register_game, require_game_with_maps, validate_output_file
from arena.games.catalogue import CATALOGUE
from arena.ladder.plan import (
    BadLadderPlan,
    BotPlan,
    LadderPlan,
    make_bot_names_unique,
    make_engine_bot_plan,
    parse_openings_setting,
    validate_event_name,
    validate_ladder_format,
)
from arena.protocol.adjudication import Adjudication
from arena.protocol.timecontrol import TimeControl, parse_duration

EventOption = Annotated[
    str | None,
    typer.Option(
        "--event",
        metavar="NAME",
        help="Event name in the stored results; with --db, resume the unfinished event of this name.",
    ),
]
OpeningsOption = Annotated[
    str,
    typer.Option(
        "--openings",
        metavar="shipped|N|FILE",
        help="Openings: shipped (the map's own), a number N (N random plies), or a file.",
    ),
]
PinOption = Annotated[
    bool, typer.Option("--pin/--no-pin", help="Pin the bots of each match to separate cores.")
]
HtmlOption = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="FILE",
        callback=validate_output_file,
        help="Write a self-contained HTML report to this file (- for standard output).",
    ),
]
CsvOption = Annotated[
    Path | None,
    typer.Option(
        "--csv",
        metavar="FILE",
        callback=validate_output_file,
        help="Write the table of results as CSV to this file (- for standard output).",
    ),
]


def make_engine_bot_plans(engine_specs: Sequence[str]) -> tuple[BotPlan, ...]:
    """Return a BotPlan for each engine spec. All plans have distinct names. Raises UsageError for an invalid spec."""
    try:
        return make_bot_names_unique(make_engine_bot_plan(engine_spec) for engine_spec in engine_specs)
    except BadLadderPlan as error:
        raise UsageError(str(error)) from None


def apply_options_to_plan(plan: LadderPlan, options: Mapping[str, Any]) -> LadderPlan:
    """Return the plan, changed by the options of the command line. Raises UsageError for an invalid option.

    options  values of the options that the user gave, by the name of the command's parameter, such as `for_`
    """
    changes = {field: options[name] for name, field in PLAN_FIELD_BY_OPTION.items() if name in options}
    for name, (field, parse) in PLAN_FIELD_AND_PARSER_BY_OPTION.items():
        if options.get(name) is not None:
            try:
                changes[field] = parse(options[name])
            except ValueError as error:
                raise UsageError(f"--{name.strip('_')}: {error}") from None
    if "max_play_seconds" in changes:
        changes["rounds"] = options.get("rounds")
    changed_plan = dataclasses.replace(plan, **changes)
    if options.get("map") is not None:
        require_game_with_maps(changed_plan.game, CATALOGUE.find_game_class(register_game(changed_plan.game)))
    return changed_plan


def _parse_map_names(text: str) -> tuple[str, ...]:
    maps = tuple(name.strip() for name in text.split(","))
    if not all(maps) or len(set(maps)) < len(maps):
        raise ValueError(f"must be different names of maps, separated by commas, not {text!r:.80}")
    return maps


PLAN_FIELD_BY_OPTION = {
    "game": "game",
    "rounds": "rounds",
    "concurrency": "concurrency",
    "seed": "seed",
    "pin": "should_pin_bots",
    "margin": "margin_ms",
}
"""Field of LadderPlan that each option of the command line sets, by the option's name; only options that need no parsing."""

PLAN_FIELD_AND_PARSER_BY_OPTION: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "map": ("maps", _parse_map_names),
    "for_": ("max_play_seconds", parse_duration),
    "openings": ("openings", parse_openings_setting),
    "format": ("format", validate_ladder_format),
    "event": ("event_name", validate_event_name),
    "adjudicate": ("adjudication", Adjudication.parse),
    "tc": ("time_control", TimeControl.parse),
}
"""Field of LadderPlan that each option of the command line sets, and parser of the option's text, by the option's name.

Options that need no parsing are in PLAN_FIELD_BY_OPTION.
"""
