"""The command `arena ladder`: play many bots against each other."""

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
    RecordOption,
    RoundsOption,
    SeedOption,
    TimeOption,
    UsageError,
    is_option_given,
)
from arena.games.catalogue import CATALOGUE
from arena.games.core import GameError
from arena.ladder.commands.options import (
    CsvOption,
    EventOption,
    HtmlOption,
    OpeningsOption,
    PinOption,
    apply_options_to_plan,
    make_engine_bot_plans,
)
from arena.ladder.commands.play_plan import play_plan
from arena.ladder.commands.results import ReportFiles, report_results
from arena.ladder.event_openings import SHIPPED_OPENINGS
from arena.ladder.external_bots import ExternalBotSettings
from arena.ladder.plan import DEFAULT_ENGINES, DEFAULT_ROUNDS, DEFAULT_TIME_CONTROL, BadLadderPlan, LadderPlan
from arena.ladder.plan_file import read_ladder_file
from arena.maps.game_on_map import DEFAULT_MAP
from arena.protocol.adjudication import DEFAULT_ADJUDICATION


def ladder_command(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[LADDER.toml]",
            help="Ladder file (TOML) with bots and settings; default: the built-in bots.",
        ),
    ] = None,
    engines: Annotated[
        list[str] | None,
        typer.Option(
            "--bot",
            metavar="ENGINE",
            help="Bot: engine, FILE.py, exec:COMMAND (JSON Lines) or command:COMMAND (connects by itself); may be repeated.",
        ),
    ] = None,
    game: GameOption = "riskless",
    map: MapOption = DEFAULT_MAP,
    tc: TimeOption = DEFAULT_TIME_CONTROL,
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
            help="Format: round-robin, gauntlet (the first bot against all others), swiss or knockout.",
        ),
    ] = "round-robin",
    openings: OpeningsOption = SHIPPED_OPENINGS,
    for_: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="TIME",
            help="Start new matches only for this long, e.g. 10m or 2h, or 'ever' for no limit.",
        ),
    ] = None,
    event: EventOption = None,
    adjudicate: AdjudicateOption = str(DEFAULT_ADJUDICATION),
    pin: PinOption = False,
    html: HtmlOption = None,
    csv: CsvOption = None,
    external: Annotated[
        int,
        typer.Option(
            "--external",
            metavar="N",
            min=0,
            help="Start no bots; wait until N bots connect by themselves (without tokens).",
        ),
    ] = 0,
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="ADDRESS",
            help="Dask scheduler whose workers play the matches, e.g. tcp://10.0.0.1:8786.",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="ADDRESS",
            help="With --external: address on which to accept bots; 0.0.0.0 for all interfaces.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            metavar="PORT",
            min=0,
            max=65535,
            help="Port of the web page; 0: a free one; default: 0 (with --external: 8765).",
        ),
    ] = None,
    wait: Annotated[
        float,
        typer.Option(
            "--wait",
            metavar="SECONDS",
            min=0,
            help="With --external: seconds to wait for the bots to connect.",
        ),
    ] = 60,
) -> None:
    """Play a ladder of many bots on this machine.

    It starts a server and the bots, and prints the table of results. Without arguments, five built-in engines play.

    Every two bots play --rounds pairs of matches on each map; the second match of a pair has the seats swapped. Options
    override the settings in the file. Ctrl-C stops the ladder and keeps the finished matches.

    With --db, the same command resumes a ladder that was stopped or killed.

    With --external, this command starts no bots. The ladder begins once N bots are connected
    (`arena bot ENGINE --url URL`) and no new one has connected for 5 s. A bot that is disconnected for 30 s drops out.

    With --cluster, the workers of a Dask cluster play the pairs. This machine keeps the records and the table.

    Example: arena ladder --rounds 4

    Example: arena ladder LADDER.toml --tc 1+0.1

    Example: arena ladder --format swiss --rounds 5 --openings 2 --map m2,path4 --db sqlite:///ladder.db
    """
    external_bots = _make_external_bot_settings(
        context, external, host, 8765 if port is None else port, wait, is_roster_empty=not (engines or file)
    )
    try:
        plan = read_ladder_file(file) if file else LadderPlan(make_engine_bot_plans(DEFAULT_ENGINES))
        if file and not is_option_given(context, "game"):
            CATALOGUE.register_game(plan.game)
    except BadLadderPlan as error:
        raise UsageError(str(error)) from None
    except GameError as error:
        raise UsageError(f"{file}: game: {error}") from None
    if engines:
        if len(engines) < 2:
            raise UsageError("a ladder needs at least two bots; give --bot once for each")
        plan = dataclasses.replace(plan, bots=make_engine_bot_plans(engines))
    overrides: dict[str, Any] = {
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
    plan = apply_options_to_plan(
        plan, {name: value for name, value in overrides.items() if is_option_given(context, name)}
    )
    if external_bots is not None:
        plan = dataclasses.replace(plan, bots=())
    if cluster is not None and (external or plan.should_pin_bots):
        raise UsageError(
            f"--cluster cannot be combined with {'--external' if external else '--pin'}: the cluster's workers start the bots"
        )
    reports = ReportFiles(json, html, csv)
    report_results(
        play_plan(
            plan,
            "ladder",
            record,
            db,
            external_bot_settings=external_bots,
            scheduler_address=cluster,
            port=port or 0,
        ),
        [],
        {},
        reports,
    )


def _make_external_bot_settings(
    context: typer.Context,
    bot_count: int,
    host: str,
    port: int,
    wait_seconds: float,
    *,
    is_roster_empty: bool,
) -> ExternalBotSettings | None:
    """Return the settings for bots that connect by themselves (--external); None if the ladder starts the bots.

    is_roster_empty  True if neither --bot nor a ladder file names bots

    Raises UsageError for invalid options.
    """
    if bot_count:
        if bot_count < 2:
            raise UsageError(f"--external: a ladder needs at least two bots, not {bot_count}")
        if not is_roster_empty:
            raise UsageError(
                "--external cannot be combined with --bot or a file: external bots give their own names"
            )
        return ExternalBotSettings(host, port, bot_count, wait_seconds)
    for name in ("host", "wait"):
        if is_option_given(context, name):
            raise UsageError(f"--{name} is used only with --external N")
    return None
