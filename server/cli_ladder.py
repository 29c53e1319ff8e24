"""`arena ladder` and `arena match`."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import anyio
import typer

from console import (
    ConcurrencyOption,
    DatabaseOption,
    Failure,
    GameOption,
    JsonOption,
    MapOption,
    MarginOption,
    Misuse,
    RecordOption,
    RoundsOption,
    SeedOption,
    TimeOption,
    err,
    out,
    write_json,
)
from games.core import GameError
from games.riskless import Riskless
from maps.loader import MapError
from maps.setup import make_setup
from protocol.timecontrol import BadTimeControl, TimeControl
from server.fleet import BotRefused
from server.host import CannotListen
from server.ladder import Ladder, run_ladder
from server.ladder_file import (
    DEFAULT_ENGINES,
    BadLadder,
    BotPlan,
    LadderPlan,
    engine_bot,
    read_ladder,
    unique_bots,
)
from server.pentanomial import Counts, Difference, difference, pair_counts
from server.sprt import BadSprt, Sprt, Verdict
from server.standings import is_void, pair_scores, table
from server.store import StoreError
from server.tables import show, watching
from server.visitors import DialIn, TooFew

STOPPED = 130
"""The exit code of a command that Ctrl-C ended, as shells have it."""


def register(app: typer.Typer) -> None:
    """Add `ladder` and `match` to the `arena` command."""
    app.command("ladder")(ladder)
    app.command("match")(match)


def ladder(
    context: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(metavar="[LADDER.toml]", help="What to play; else the built-in bots.")
    ] = None,
    bot: Annotated[
        list[str] | None,
        typer.Option("--bot", metavar="ENGINE", help="A bot, as `arena bot` takes it; repeat the option."),
    ] = None,
    game: GameOption = "riskless",
    map: MapOption = "m2",
    tc: TimeOption = "0.05/move",
    margin: MarginOption = 100,
    rounds: RoundsOption = 2,
    concurrency: ConcurrencyOption = 0,
    seed: SeedOption = 1,
    record: RecordOption = None,
    db: DatabaseOption = None,
    json: JsonOption = None,
    external: Annotated[
        int,
        typer.Option(
            "--external",
            metavar="N",
            min=0,
            help="Start no bots: wait for N or more to dial in, without a token. For a private network.",
        ),
    ] = 0,
    host: Annotated[
        str, typer.Option("--host", help="With --external: address to listen on; 0.0.0.0 for all.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="With --external: port; 0 for any free one.")
    ] = 8765,
    wait: Annotated[
        float, typer.Option("--wait", min=0, help="With --external: seconds that the bots may take to come.")
    ] = 60,
) -> None:
    """Play a whole ladder here: server, bots and table. Needs no arguments.

    Every two bots play --rounds pairs on each map, seats swapped within a pair. Options given here go
    before those of the file. Ctrl-C stops, and keeps what is finished.

    With --external the bots are not started here: once N have dialled in (`arena bot ENGINE --url URL`)
    and nobody new has come for 5 s, all who are there play. A bot that is away for 30 s is lost.

    Examples: arena ladder --rounds 4;  arena ladder --game tictactoe;  arena ladder LADDER.toml --tc 1+0.1
    """
    dial_in = _dial_in(context, external, host, port, wait, no_bots=not (bot or file))
    try:
        plan = read_ladder(file) if file else LadderPlan(engine_bots(DEFAULT_ENGINES))
    except BadLadder as error:
        raise Misuse(str(error)) from None
    if bot:
        if len(bot) < 2:
            raise Misuse("--bot: a ladder needs two bots or more: repeat the option")
        plan = dataclasses.replace(plan, bots=engine_bots(bot))
    given: dict[str, Any] = {
        "game": game,
        "map": map,
        "tc": tc,
        "margin": margin,
        "rounds": rounds,
        "concurrency": concurrency,
        "seed": seed,
    }
    plan = _with_options(plan, {name: value for name, value in given.items() if _is_given(context, name)})
    if dial_in is not None:
        plan = dataclasses.replace(plan, bots=())
    _tell(_play(plan, "ladder", record, db, dial_in=dial_in), [], {}, json)


def match(
    a: Annotated[str, typer.Argument(metavar="A", help="An engine, as `arena bot` takes it.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another, or the same again.")],
    sprt: Annotated[
        str | None,
        typer.Option(help="Stop when it is settled: elo0=0,elo1=10,alpha=0.05,beta=0.05."),
    ] = None,
    game: GameOption = "riskless",
    map: MapOption = "m2",
    tc: TimeOption = "0.1/move",
    margin: MarginOption = 100,
    rounds: RoundsOption = 10,
    concurrency: ConcurrencyOption = 0,
    seed: SeedOption = 1,
    record: RecordOption = None,
    db: DatabaseOption = None,
    json: JsonOption = None,
) -> None:
    """Play pairs between two bots, and say how much stronger A is, with the error.

    With --sprt, a sequential test of two Elo differences ends the match as soon as it is settled;
    --rounds is then the most that is played.

    Example: arena match alphabeta greedy --rounds 20 --sprt elo0=0,elo1=50
    """
    try:
        test = Sprt.parse(sprt) if sprt is not None else None
    except BadSprt as error:
        raise Misuse(f"--sprt: {error}") from None
    options = {"game": game, "map": map, "tc": tc, "margin": margin, "rounds": rounds}
    options |= {"concurrency": concurrency, "seed": seed}
    plan = _with_options(LadderPlan(engine_bots([a, b])), options)
    first, second = (bot.name for bot in plan.bots)

    def settled(played: Ladder) -> bool:
        return test is not None and test.verdict(_pairs(played)) is not Verdict.OPEN

    played = _play(plan, "match", record, db, settled)
    pairs = _pairs(played)
    found = difference(pairs)
    told = {"pairs": pairs, "difference": found, "sprt": _told(test, pairs)}
    _tell(played, _findings(first, second, pairs, found, test), told, json)


def engine_bots(engines: Sequence[str]) -> tuple[BotPlan, ...]:
    """The bots of these engines, under names that differ."""
    return unique_bots(engine_bot(engine) for engine in engines)


def _dial_in(
    context: typer.Context, bots: int, host: str, port: int, wait: float, *, no_bots: bool
) -> DialIn | None:
    """Where bots dial in, or None when they are started here. Raises Misuse."""
    if bots:
        if bots < 2:
            raise Misuse("--external: a ladder needs two bots or more")
        if not no_bots:
            raise Misuse("--external: bots dial in, so neither --bot nor a file can name them")
        return DialIn(host, port, bots, wait)
    for name in ("host", "port", "wait"):
        if _is_given(context, name):
            raise Misuse(f"--{name} is for bots that dial in: give --external N too")
    return None


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _with_options(plan: LadderPlan, options: Mapping[str, Any]) -> LadderPlan:
    """The plan, changed by options of the command line. Raises Misuse."""
    changes = {key: options[key] for key in ("game", "rounds", "concurrency", "seed") if key in options}
    if "map" in options:
        changes["maps"] = (options["map"],)
    if "margin" in options:
        changes["margin_ms"] = options["margin"]
    if "tc" in options:
        try:
            changes["time_control"] = TimeControl.parse(options["tc"])
        except BadTimeControl as error:
            raise Misuse(f"--tc: {error}") from None
    return dataclasses.replace(plan, **changes)


def _play(
    plan: LadderPlan,
    kind: str,
    record: Path | None,
    db: str | None,
    settled: Callable[[Ladder], bool] = lambda _: False,
    dial_in: DialIn | None = None,
) -> Ladder:
    """Play the plan: what was played. Raises Failure or Misuse."""
    now = datetime.now().astimezone()
    if plan.event == LadderPlan.event:
        plan = dataclasses.replace(plan, event=f"{kind}-{now:%Y%m%d-%H%M%S}")
    path = record or Path(f"{kind}-{now:%Y%m%d-%H%M%S}.jsonl")
    # Only Riskless has maps; any other game has one start.
    maps = plan.maps if plan.game == Riskless.name else plan.maps[:1]
    try:
        starts = [make_setup(plan.game, map) for map in maps]
    except (GameError, MapError) as error:
        raise Misuse(str(error)) from None
    played = Ladder(plan, starts, path)
    with watching(played, err) as display:
        try:
            anyio.run(
                partial(
                    run_ladder,
                    played,
                    display,
                    database=db,
                    enough=lambda: settled(played),
                    dial_in=dial_in,
                ),
                backend_options={"use_uvloop": sys.platform != "win32"},
            )
        except BotRefused as refused:
            raise Misuse(str(refused)) from None
        except (CannotListen, StoreError, TooFew) as error:
            raise Failure(str(error)) from None
        except OSError as error:
            raise Failure(f"cannot write {error.filename or path}: {error.strerror}") from None
    return played


def _summary(played: Ladder) -> dict[str, object]:
    return {
        "event": played.plan.event,
        "record": str(played.record),
        "time_control": str(played.plan.time_control),
        "matches": played.matches,
        "played": len(played.played),
        "void": sum(map(is_void, played.records)),
    }


def _tell(played: Ladder, findings: Sequence[str], told: Mapping[str, object], json: Path | None) -> None:
    """Print the table and what follows from it, and say where the matches are."""
    rows = table(played.bots, played.records)
    if str(json) != "-":  # else the output is for a program
        show(rows, out)
        for line in findings:
            out.print(line, markup=False, highlight=False, soft_wrap=True)
    if json is not None:
        write_json({**_summary(played), "table": rows, **told}, json)
    count = len(played.played)
    void = sum(map(is_void, played.records))
    ending = f"; {void} void, which count for nobody" if void else ""
    how = f"stopped: {count} of {played.matches} matches are" if played.stopped else f"{count} matches are"
    err.print(f"{how} in {played.record}{ending}", markup=False, highlight=False, soft_wrap=True)
    if played.stopped:
        raise typer.Exit(STOPPED)


def _pairs(played: Ladder) -> Counts:
    return pair_counts(pair_scores(played.bots[0], played.played))


def _findings(
    first: str, second: str, pairs: Counts, found: Difference | None, test: Sprt | None
) -> list[str]:
    """What a match tells, line by line."""
    counts = ", ".join(f"{n} × {points:g}" for n, points in zip(pairs, (0, 0.5, 1, 1.5, 2), strict=True) if n)
    if found is None:
        return ["no pair is complete: nothing can be said"]
    strength = f"{first} is {found.elo:+.1f} ± {found.error:.1f} Elo from {second} (95 %)"
    lines = [
        f"{strength}, the stronger one with likelihood {found.superiority:.1%}",
        f"{sum(pairs)} pairs, by the points of {first}: {counts}",
    ]
    if test is not None:
        verdict = test.verdict(pairs)
        said = {
            Verdict.H0: f"H0 holds: elo is {test.elo0:g}, not {test.elo1:g}",
            Verdict.H1: f"H1 holds: elo is {test.elo1:g}, not {test.elo0:g}",
            Verdict.OPEN: "not settled: play more rounds",
        }[verdict]
        lines.append(f"SPRT: {said} (LLR {test.llr(pairs):.2f} in {test.lower:.2f} .. {test.upper:.2f})")
    return lines


def _told(test: Sprt | None, pairs: Counts) -> dict[str, object] | None:
    if test is None:
        return None
    return {
        **dataclasses.asdict(test),
        "llr": test.llr(pairs),
        "lower": test.lower,
        "upper": test.upper,
        "verdict": test.verdict(pairs).value,
    }
