"""Playing a plan from the command line: every failure becomes one line, and progress is shown meanwhile."""

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
from arena.console import Failure, Misuse, err, game_named
from arena.games.core import AnyGame, GameError
from arena.games.riskless import Riskless
from arena.ladder.bots import BotRefused
from arena.ladder.cluster import ClusterLost
from arena.ladder.cores import can_pin
from arena.ladder.dial_in import ANOTHER_EVENT, DialIn, TooFewBots
from arena.ladder.event import Ladder
from arena.ladder.openings import (
    SHIPPED,
    NoOpenings,
    Openings,
    RandomOpenings,
    openings_of_maps,
    read_openings,
)
from arena.ladder.plan import LadderPlan
from arena.ladder.play import run_ladder
from arena.ladder.reports.progress import watching
from arena.maps.loader import MapError
from arena.maps.openings import BadOpenings
from arena.maps.setup import make_setup
from arena.match.adjudication import lacks_table
from arena.rating.sprt import Sprt
from arena.server.host import CannotListen
from arena.server.net import interpreter
from arena.server.store.database import StoreError
from arena.server.store.ladder_lock import CannotResume


def play(
    plan: LadderPlan,
    kind: str,
    record: Path | None,
    db: str | None,
    settled: Callable[[Ladder], bool] = lambda _: False,
    dial_in: DialIn | None = None,
    cluster: str | None = None,
    port: int = 0,
    status: Callable[[Ladder], str] = lambda _: "",
    test: Sprt | None = None,
) -> Ladder:
    """Play the plan: what was played. Raises Failure or Misuse.

    status  tells in a line what it says so far
    test    what the page shows of a sequential test
    """
    if plan.pin and not can_pin():
        raise Misuse("--pin: this system does not keep processes on cores; Linux does")
    plan = replace(plan, game=game_named(plan.game))
    # Only Riskless has maps; any other game has one start.
    maps = plan.maps if plan.game == Riskless.name else plan.maps[:1]
    try:
        starts = [make_setup(plan.game, map) for map in maps]
        if cluster is None:  # what is installed on its machines, they know alone
            _check_engines(plan, starts)
            _check_tables(plan, starts)
        played = Ladder(
            plan,
            starts,
            record,
            kind,
            _openings(plan, maps, starts),
            named=plan.event != LadderPlan.event,
        )
    except (GameError, MapError, BadOpenings) as error:
        raise Misuse(str(error)) from None
    # The page keeps what takes long to make for a minute: that would be the first table, which loads NumPy.
    import_module("arena.rating.bradley_terry")
    with watching(played, err, status) as display:
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
                        opened=lambda url: _tell_address(url, played.plan.event),
                        test=test,
                    ),
                    backend_options={"use_uvloop": sys.platform != "win32"},
                )
        except BotRefused as refused:
            raise Misuse(str(refused)) from None
        except CannotResume as error:
            raise Failure(f"{error}; {ANOTHER_EVENT}" if dial_in is not None else str(error)) from None
        except (CannotListen, ClusterLost, StoreError, TooFewBots) as error:
            raise Failure(str(error)) from None
        except OSError as error:
            raise Failure(f"cannot write {error.filename or played.record}: {error.strerror}") from None
    return played


def _check_engines(plan: LadderPlan, starts: Sequence[AnyGame]) -> None:
    """Raises Misuse where an engine is told what it cannot follow on one of the starts: it would resign every match."""
    for bot in plan.bots:
        for game in starts:
            why = refusal(bot.engine, game) if bot.engine is not None else None
            if why is not None:
                raise Misuse(f"bot {bot.name}: {why}")


def _check_tables(plan: LadderPlan, starts: Sequence[AnyGame]) -> None:
    """Raises Misuse where matches are to end by a table that is not here."""
    for game in starts:
        lacking = lacks_table(plan.adjudication, game)
        if lacking is not None:
            raise Misuse(f"--adjudicate: {lacking}")


def _tell_address(url: str, event: str) -> None:
    # Whoever listens everywhere is found here, too; a container's port is published to the same one of the machine.
    here = (
        url.replace("ws", "http", 1).replace("//0.0.0.0:", "//localhost:").replace("//[::]:", "//localhost:")
    )
    err.print(
        f"watch it at {here}/event/{quote(event, safe='')}", markup=False, highlight=False, soft_wrap=True
    )


def _openings(plan: LadderPlan, maps: Sequence[str], starts: Sequence[AnyGame]) -> Openings:
    """Raises BadOpenings."""
    if plan.openings == SHIPPED:
        return openings_of_maps(maps, starts, plan.seed)
    if isinstance(plan.openings, Path):
        return read_openings(plan.openings, starts)
    return RandomOpenings(starts, plan.openings, plan.seed) if plan.openings else NoOpenings()
