"""What `arena ladder` and `arena match` share: from options to a plan, playing it, and telling of it."""

from __future__ import annotations

import csv
import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

import anyio
import msgspec
import typer

from console import Failure, Misuse, err, out, write_json
from games.core import AnyGame, GameError
from games.riskless import Riskless
from ladder.cluster import ClusterLost
from ladder.cores import can_pin
from ladder.event import Ladder, run_ladder
from ladder.file import (
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
from ladder.fleet import BotRefused
from ladder.openings import BadOpenings, NoOpenings, Openings, RandomOpenings, read_openings
from ladder.reports.page import page
from ladder.reports.tables import show, watching
from ladder.visitors import DialIn, TooFew
from maps.loader import MapError
from maps.setup import make_setup
from protocol.adjudication import Adjudication, BadAdjudication
from protocol.timecontrol import BadTimeControl, TimeControl
from rating.breakdown import breakdown
from rating.standings import Row, is_void, table
from server.host import CannotListen
from server.net import interpreter
from server.store.database import StoreError
from server.store.ladders import CannotResume

STOPPED = 130
"""The exit code of a command that Ctrl-C ended, as shells have it."""

EventOption = Annotated[
    str | None, typer.Option("--event", help="The event's name; with --db it goes on under this name.")
]
OpeningsOption = Annotated[
    str,
    typer.Option(
        "--openings", help="Random plies before the bots begin, or a file: a line of moves for each."
    ),
]
AdjudicateOption = Annotated[
    str | None,
    typer.Option(
        "--adjudicate",
        metavar="RULES",
        help="End matches early: win=500,draw=20,moves=3,after=40,limit=200,solve=1000, or some of these.",
    ),
]
PinOption = Annotated[
    bool, typer.Option("--pin/--no-pin", help="Keep the bots of each running match on cores of their own.")
]
HtmlOption = Annotated[
    Path | None, typer.Option("--html", help="Write a report here: one page that needs nothing else.")
]
CsvOption = Annotated[Path | None, typer.Option("--csv", help="Write the table here, as CSV.")]


def engine_bots(engines: Sequence[str]) -> tuple[BotPlan, ...]:
    """The bots of these engines, under names that differ."""
    return unique_bots(engine_bot(engine) for engine in engines)


def is_given(context: typer.Context, name: str) -> bool:
    """Whether the option was written, and is not just its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


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
    if options.get("adjudicate") is not None:
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


def play(
    plan: LadderPlan,
    kind: str,
    record: Path | None,
    db: str | None,
    settled: Callable[[Ladder], bool] = lambda _: False,
    dial_in: DialIn | None = None,
    cluster: str | None = None,
    port: int = 0,
) -> Ladder:
    """Play the plan: what was played. Raises Failure or Misuse."""
    if plan.pin and not can_pin():
        raise Misuse("--pin: this system does not keep processes on cores; Linux does")
    # Only Riskless has maps; any other game has one start.
    maps = plan.maps if plan.game == Riskless.name else plan.maps[:1]
    try:
        starts = [make_setup(plan.game, map) for map in maps]
        played = Ladder(
            plan,
            starts,
            record,
            kind,
            _openings(plan, starts),
            named=plan.event != LadderPlan.event,
        )
    except (GameError, MapError, BadOpenings) as error:
        raise Misuse(str(error)) from None
    with watching(played, err) as display:
        try:
            with interpreter.settled():
                anyio.run(
                    partial(
                        run_ladder,
                        played,
                        display,
                        database=db,
                        enough=lambda: settled(played),
                        dial_in=dial_in,
                        cluster=cluster,
                        port=port,
                        opened=_tell_address,
                    ),
                    backend_options={"use_uvloop": sys.platform != "win32"},
                )
        except BotRefused as refused:
            raise Misuse(str(refused)) from None
        except (CannotListen, CannotResume, ClusterLost, StoreError, TooFew) as error:
            raise Failure(str(error)) from None
        except OSError as error:
            raise Failure(f"cannot write {error.filename or played.record}: {error.strerror}") from None
    return played


def _tell_address(url: str) -> None:
    err.print(f"watch it at {url.replace('ws', 'http', 1)}/", markup=False, highlight=False, soft_wrap=True)


def _openings(plan: LadderPlan, starts: Sequence[AnyGame]) -> Openings:
    """Raises BadOpenings."""
    if isinstance(plan.openings, Path):
        return read_openings(plan.openings, starts)
    return RandomOpenings(starts, plan.openings, plan.seed) if plan.openings else NoOpenings()


def write_text(text: str, path: Path) -> None:
    """Write a report. Raises Failure."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from None


def as_csv(rows: Sequence[Row]) -> str:
    """The table, a line a bot, under the names of its columns."""
    text = StringIO()
    writer = csv.DictWriter(text, Row.__struct_fields__, lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(msgspec.structs.asdict, rows))
    return text.getvalue()


def summary(played: Ladder) -> dict[str, object]:
    """What `--json` tells of a ladder before its table."""
    return {
        "event": played.plan.event,
        "record": str(played.record),
        "time_control": str(played.plan.time_control),
        "matches": played.matches,
        "played": len(played.played),
        "void": sum(map(is_void, played.records)),
    }


@dataclasses.dataclass(frozen=True)
class Reports:
    """The files that tell of a ladder, as far as they are wanted."""

    json: Path | None = None
    html: Path | None = None
    csv: Path | None = None


def tell(played: Ladder, findings: Sequence[str], told: Mapping[str, object], reports: Reports) -> None:
    """Print the table and what follows from it, write the reports, and say where the matches are."""
    rows = table(played.bots, played.records)
    json = reports.json
    if str(json) != "-":  # else the output is for a program
        show(rows, out)
        for line in findings:
            out.print(line, markup=False, highlight=False, soft_wrap=True)
    if json is not None:
        write_json(
            {**summary(played), "table": rows, "breakdown": breakdown(played.bots, played.played), **told},
            json,
        )
    if reports.html is not None:
        write_text(page(played), reports.html)
    if reports.csv is not None:
        write_text(as_csv(rows), reports.csv)
    count = len(played.played)
    void = sum(map(is_void, played.records))
    ending = f"; {void} void, which count for nobody" if void else ""
    of = f" of {played.matches}" if played.matches is not None else ""
    how = f"stopped: {count}{of} matches are" if played.stopped else f"{count} matches are"
    err.print(f"{how} in {played.record}{ending}", markup=False, highlight=False, soft_wrap=True)
    if played.stopped:
        raise typer.Exit(STOPPED)
