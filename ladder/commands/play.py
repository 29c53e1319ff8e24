"""Play a plan from the command line: show progress, and report every failure in one line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from urllib.parse import quote

import anyio

from arena.bots.engines.registry import refusal
from arena.console import CommandError, UsageError, err, game_named
from arena.games.core import AnyGame, GameError
from arena.ladder.bots import BotRefused
from arena.ladder.cluster import ClusterLost
from arena.ladder.event import Ladder
from arena.ladder.external_bots import ANOTHER_EVENT, ExternalBotSettings, TooFewBots
from arena.ladder.openings import (
    SHIPPED,
    NoOpenings,
    Openings,
    RandomOpenings,
    openings_of_maps,
    read_openings,
)
from arena.ladder.pinning import can_pin
from arena.ladder.plan import LadderPlan
from arena.ladder.play import run_ladder
from arena.ladder.reports.progress import open_display
from arena.maps.loader import MapError
from arena.maps.openings import BadOpenings
from arena.maps.setup import has_maps, make_setup
from arena.match.adjudication import lacks_table
from arena.rating.sprt import Sprt
from arena.server.edge import interpreter
from arena.server.host import CannotListen
from arena.server.store.database import StoreError
from arena.server.store.ladder_lock import CannotResume


def play(
    plan: LadderPlan,
    kind: str,
    record: Path | None,
    db: str | None,
    settled: Callable[[Ladder], bool] = lambda _: False,
    dial_in: ExternalBotSettings | None = None,
    cluster: str | None = None,
    port: int = 0,
    status: Callable[[Ladder], str] = lambda _: "",
    test: Sprt | None = None,
) -> Ladder:
    """Play the plan and return the ladder. Raises CommandError or UsageError.

    settled  returns True when the ladder may end early
    status   returns the findings so far in one line
    test     sequential test shown on the page
    """
    if plan.pin and not can_pin():
        raise UsageError("--pin needs Linux: this system cannot pin processes to cores")
    plan = replace(plan, game=game_named(plan.game))
    maps = plan.maps if has_maps(plan.game) else plan.maps[:1]
    try:
        starts = [make_setup(plan.game, map) for map in maps]
        if cluster is None:  # only the cluster's machines know what they have installed
            _check_engines(plan, starts)
            _check_tables(plan, starts)
        ladder = Ladder(
            plan,
            starts,
            record,
            kind,
            _openings(plan, maps, starts),
            named=plan.event != LadderPlan.event,
        )
    except (GameError, MapError, BadOpenings) as error:
        raise UsageError(str(error)) from None
    # Import NumPy now: the page caches slow results for a minute, and otherwise the first table would be one.
    import_module("arena.rating.bradley_terry")
    with open_display(ladder, err, status) as display:
        try:
            with interpreter.infrequent_collections():
                anyio.run(
                    partial(
                        run_ladder,
                        ladder,
                        display,
                        database=db,
                        enough=lambda: settled(ladder),
                        dial_in=dial_in,
                        cluster=cluster,
                        port=port,
                        opened=lambda url: _print_address(url, ladder.plan.event),
                        test=test,
                    ),
                    backend_options={"use_uvloop": sys.platform != "win32"},
                )
        except BotRefused as refused:
            raise UsageError(str(refused)) from None
        except CannotResume as error:
            raise CommandError(f"{error}; {ANOTHER_EVENT}" if dial_in is not None else str(error)) from None
        except (CannotListen, ClusterLost, StoreError, TooFewBots) as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"cannot write {error.filename or ladder.record}: {error.strerror}") from None
    return ladder


def _check_engines(plan: LadderPlan, starts: Sequence[AnyGame]) -> None:
    """Raise UsageError if an engine has an option that it cannot follow on one of the starts and would resign every
    match.
    """
    for bot in plan.bots:
        for game in starts:
            why = refusal(bot.engine, game) if bot.engine is not None else None
            if why is not None:
                raise UsageError(f"bot {bot.name}: {why}")


def _check_tables(plan: LadderPlan, starts: Sequence[AnyGame]) -> None:
    """Raise UsageError if the rule `table` is on and this machine lacks a tablebase for one of the starts."""
    for game in starts:
        lacking = lacks_table(plan.adjudication, game)
        if lacking is not None:
            raise UsageError(f"--adjudicate: {lacking}")


def _print_address(url: str, event: str) -> None:
    # A server on all addresses is also at localhost; a container's port is published under the same number.
    here = (
        url.replace("ws", "http", 1).replace("//0.0.0.0:", "//localhost:").replace("//[::]:", "//localhost:")
    )
    err.print(
        f"watch it at {here}/event/{quote(event, safe='')}", markup=False, highlight=False, soft_wrap=True
    )


def _openings(plan: LadderPlan, maps: Sequence[str], starts: Sequence[AnyGame]) -> Openings:
    """Return the openings of the plan. Raises BadOpenings."""
    if plan.openings == SHIPPED:
        return openings_of_maps(maps, starts, plan.seed)
    if isinstance(plan.openings, Path):
        return read_openings(plan.openings, starts)
    return RandomOpenings(starts, plan.openings, plan.seed) if plan.openings else NoOpenings()
