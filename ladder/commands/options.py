"""The options that `arena ladder` and `arena match` share, and the plan that they make."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.console import Misuse
from arena.ladder.plan import (
    BadLadder,
    BotPlan,
    LadderPlan,
    duration,
    engine_bot,
    event_name,
    format_name,
    openings,
    unique_bots,
)
from arena.protocol.adjudication import Adjudication, BadAdjudication
from arena.protocol.timecontrol import BadTimeControl, TimeControl

EventOption = Annotated[
    str | None,
    typer.Option("--event", metavar="NAME", help="The event's name; with --db it goes on under this name."),
]
OpeningsOption = Annotated[
    str,
    typer.Option(
        "--openings",
        metavar="shipped|N|FILE",
        help="What is played before the bots begin: shipped, what each map brings with it; N random plies; or a file, "
        "a line of moves for each.",
    ),
]
PinOption = Annotated[
    bool, typer.Option("--pin/--no-pin", help="Keep the bots of each running match on cores of their own.")
]
HtmlOption = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write a report here: one page that needs nothing else."),
]
CsvOption = Annotated[
    Path | None, typer.Option("--csv", metavar="FILE", help="Write the table here, as CSV.")
]


def engine_bots(engines: Sequence[str]) -> tuple[BotPlan, ...]:
    """The bots of these engines, under names that differ. Raises Misuse."""
    try:
        return unique_bots(engine_bot(engine) for engine in engines)
    except BadLadder as error:
        raise Misuse(str(error)) from None


def with_options(plan: LadderPlan, options: Mapping[str, Any]) -> LadderPlan:
    """The plan, changed by options of the command line. Raises Misuse."""
    plain = ("game", "rounds", "concurrency", "seed", "pin")
    changes = {key: options[key] for key in plain if key in options}
    if "map" in options:
        changes["maps"] = tuple(name.strip() for name in options["map"].split(","))
        if not all(changes["maps"]) or len(set(changes["maps"])) < len(changes["maps"]):
            raise Misuse("--map: names with commas between, none of them twice")
    try:
        if options.get("for_") is not None:
            changes["seconds"] = duration(options["for_"], "--for")
            changes["rounds"] = options.get("rounds")
        if "openings" in options:
            changes["openings"] = openings(options["openings"])
        if "format" in options:
            changes["format"] = format_name(options["format"], "--format")
        if options.get("event") is not None:
            changes["event"] = event_name(options["event"], "--event")
    except BadLadder as error:
        raise Misuse(str(error)) from None
    if "adjudicate" in options:
        try:
            changes["adjudication"] = Adjudication.parse(options["adjudicate"])
        except BadAdjudication as error:
            raise Misuse(f"--adjudicate: {error}") from None
    if "margin" in options:
        changes["margin_ms"] = options["margin"]
    if "tc" in options:
        try:
            changes["time_control"] = TimeControl.parse(options["tc"])
        except BadTimeControl as error:
            raise Misuse(f"--tc: {error}") from None
    return dataclasses.replace(plan, **changes)
