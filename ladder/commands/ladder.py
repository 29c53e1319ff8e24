"""`arena ladder`."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.console import (
    AdjudicateOption,
    ConcurrencyOption,
    DatabaseOption,
    GameOption,
    JsonOption,
    MapOption,
    MarginOption,
    Misuse,
    RecordOption,
    RoundsOption,
    SeedOption,
    TimeOption,
    is_given,
)
from arena.ladder.commands.match import match
from arena.ladder.commands.options import (
    CsvOption,
    EventOption,
    HtmlOption,
    OpeningsOption,
    PinOption,
    engine_bots,
    with_options,
)
from arena.ladder.commands.play import play
from arena.ladder.commands.results import Reports, tell
from arena.ladder.commands.watch import watch_ladder
from arena.ladder.dial_in import DialIn
from arena.ladder.openings import SHIPPED
from arena.ladder.plan import DEFAULT_ENGINES, DEFAULT_ROUNDS, DEFAULT_TIME, BadLadder, LadderPlan
from arena.ladder.plan_file import read_ladder
from arena.maps.setup import DEFAULT_MAP
from arena.protocol.adjudication import DEFAULT_RULES


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
    map: MapOption = DEFAULT_MAP,
    tc: TimeOption = DEFAULT_TIME,
    margin: MarginOption = 100,
    rounds: RoundsOption = DEFAULT_ROUNDS,
    concurrency: ConcurrencyOption = 0,
    seed: SeedOption = 1,
    record: RecordOption = None,
    db: DatabaseOption = None,
    json: JsonOption = None,
    format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="round-robin, gauntlet (the first bot against all), swiss or knockout.",
        ),
    ] = "round-robin",
    openings: OpeningsOption = SHIPPED,
    for_: Annotated[
        str | None,
        typer.Option(
            "--for", metavar="TIME", help="Begin no match after 30s, 10m or 2h; ever: only Ctrl-C ends it."
        ),
    ] = None,
    event: EventOption = None,
    adjudicate: AdjudicateOption = str(DEFAULT_RULES),
    pin: PinOption = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Play nothing: show the ladder that is in --db.")
    ] = False,
    html: HtmlOption = None,
    csv: CsvOption = None,
    external: Annotated[
        int,
        typer.Option(
            "--external",
            metavar="N",
            min=0,
            help="Start no bots: wait for N or more to dial in, without a token. For a private network.",
        ),
    ] = 0,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="ADDRESS",
            help="Let the workers of the Dask cluster with this scheduler play, as in tcp://10.0.0.1:8786.",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            "--host", metavar="ADDRESS", help="With --external: address to listen on; 0.0.0.0 for all."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            metavar="PORT",
            min=0,
            max=65535,
            help="Of the page; 0, any free one. With --external 8765, for bots too.",
        ),
    ] = None,
    wait: Annotated[
        float,
        typer.Option(
            "--wait",
            metavar="SECONDS",
            min=0,
            help="With --external: seconds that the bots may take to come.",
        ),
    ] = 60,
) -> None:
    """Play a whole ladder here: server, bots and table. Needs no arguments.

    With --db a ladder that was stopped, or killed, goes on where it was when the same command is given
    again; --watch shows one that is being played there.

    Every two bots play --rounds pairs on each map, seats swapped within a pair. Options given here go
    before those of the file. Ctrl-C stops, and keeps what is finished.

    With --external the bots are not started here: once N have dialled in (`arena bot ENGINE --url URL`)
    and nobody new has come for 5 s, all who are there play. A bot that is away for 30 s is lost.

    With --cluster pairs are played by the workers of a Dask cluster; records and table are kept here.

    Examples: arena ladder --rounds 4;  arena ladder --game tictactoe;  arena ladder LADDER.toml --tc 1+0.1;
    arena ladder --format swiss --rounds 5 --openings 2 --map m2,path4 --db sqlite:///ladder.db
    """
    if watch:
        if db is None:
            raise Misuse("--watch: say where the ladder is kept, as in --db sqlite:///ladder.db")
        watch_ladder(db, event, json)
        return
    dial_in = _dial_in(
        context, external, host, 8765 if port is None else port, wait, no_bots=not (bot or file)
    )
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
        "format": format,
        "openings": openings,
        "for_": for_,
        "event": event,
        "adjudicate": adjudicate,
        "pin": pin,
    }
    plan = with_options(plan, {name: value for name, value in given.items() if is_given(context, name)})
    if dial_in is not None:
        plan = dataclasses.replace(plan, bots=())
    if cluster is not None and (external or plan.pin):
        raise Misuse(
            f"--cluster: its workers start the bots: leave out {'--external' if external else '--pin'}"
        )
    tell(
        play(plan, "ladder", record, db, dial_in=dial_in, cluster=cluster, port=port or 0),
        [],
        {},
        Reports(json, html, csv),
    )


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
    for name in ("host", "wait"):
        if is_given(context, name):
            raise Misuse(f"--{name} is for bots that dial in: give --external N too")
    return None
