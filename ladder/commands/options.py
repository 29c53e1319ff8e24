"""The options that `arena ladder` and `arena match` share, and the plan that they make."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.console import Misuse
from arena.ladder.plan import (
    BadLadder,
    BotPlan,
    LadderPlan,
    adjudication,
    duration,
    engine_bot,
    event_name,
    format_name,
    openings,
    time_control,
    unique_bots,
)

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
    """Return the plan, changed by options of the command line. Raises Misuse."""
    changes = {field: options[name] for name, field in FIELDS.items() if name in options}
    try:
        for name, (field, parse) in PARSED.items():
            if options.get(name) is not None:
                changes[field] = parse(options[name], f"--{name.strip('_')}")
    except BadLadder as error:
        raise Misuse(str(error)) from None
    if "seconds" in changes:
        changes["rounds"] = options.get("rounds")
    return dataclasses.replace(plan, **changes)


def _maps(text: str, where: str) -> tuple[str, ...]:
    maps = tuple(name.strip() for name in text.split(","))
    if not all(maps) or len(set(maps)) < len(maps):
        raise BadLadder(f"{where}: names with commas between, none of them twice")
    return maps


FIELDS = {
    "game": "game",
    "rounds": "rounds",
    "concurrency": "concurrency",
    "seed": "seed",
    "pin": "pin",
    "margin": "margin_ms",
}
"""The fields of a plan that options give as they are, by the options' names."""

PARSED: Mapping[str, tuple[str, Callable[[str, str], Any]]] = {
    "map": ("maps", _maps),
    "for_": ("seconds", duration),
    "openings": ("openings", lambda text, _where: openings(text)),
    "format": ("format", format_name),
    "event": ("event", event_name),
    "adjudicate": ("adjudication", adjudication),
    "tc": ("time_control", time_control),
}
"""The fields that are parsed from options' texts, each with its parser."""
