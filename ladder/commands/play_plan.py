"""Run of a ladder plan from the command line, with a progress display and one-line error messages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path

import anyio

from arena.bots.api.engine_spec import BadSpec
from arena.bots.engines.registry import find_incompatibility_reason, require_valid_spec
from arena.console import CommandError, UsageError, err, register_game
from arena.games.core import AnyGame, GameError
from arena.ladder.bot_pool import BotNotStarted
from arena.ladder.dask_runner import DaskClusterUnavailable
from arena.ladder.event_openings import (
    SHIPPED_OPENINGS,
    ListedOpenings,
    Openings,
    RandomOpenings,
    load_shipped_openings,
)
from arena.ladder.external_bots import COMPOSE_NEW_EVENT_HINT, ExternalBotSettings, TooFewBots
from arena.ladder.ladder import Ladder
from arena.ladder.ladder_run import run_ladder
from arena.ladder.pinning import can_pin_processes
from arena.ladder.plan import LadderPlan
from arena.ladder.reports.display import open_display
from arena.maps.game_on_map import has_maps, make_game_on_map
from arena.maps.loader import MapError
from arena.maps.openings_file import BadOpenings, read_openings
from arena.match.adjudication import explain_missing_tablebase
from arena.rating.sprt import Sprt
from arena.server import interpreter
from arena.server.edge.edge import CannotListen
from arena.server.store.errors import StoreError
from arena.server.store.ladders import CannotResumeLadder


def play_plan(
    plan: LadderPlan,
    event_kind: str,
    record_file: Path | None,
    database_url: str | None,
    external_bot_settings: ExternalBotSettings | None = None,
    scheduler_address: str | None = None,
    port: int = 0,
    format_status: Callable[[Ladder], str] = lambda _: "",
    sprt: Sprt | None = None,
) -> Ladder:
    """Play the plan and return the ladder with its results. Raises CommandError or UsageError if it cannot be played.

    event_kind             `ladder` or `match`
    record_file            file to which finished matches are appended; None for a file named after the start of the event
    database_url           URL of a store, in which an interrupted event is resumed; None for a temporary store
    external_bot_settings  settings for bots that connect by themselves; None to start the bots of the plan
    scheduler_address      address of a Dask scheduler whose workers play the matches; None to play on this machine
    port                   port of the web page on this machine, if `external_bot_settings` is None; 0 for any free port
    format_status          function that returns the result so far in one line, for the progress display
    sprt                   sequential test of two bots, which ends the event once the test is decided; None to play all matches
    """
    if plan.should_pin_bots and not can_pin_processes():
        raise UsageError("--pin works only on Linux: this system cannot pin processes to cores")
    plan = replace(plan, game=register_game(plan.game))
    maps = plan.maps if has_maps(plan.game) else plan.maps[:1]
    try:
        games = [make_game_on_map(plan.game, map) for map in maps]
        if scheduler_address is None:  # only the cluster's machines know what they have installed
            _require_playable_engines(plan, games)
            _require_solved_tables(plan, games)
        ladder = Ladder(
            plan,
            games,
            record_file,
            event_kind,
            _make_openings(plan, maps, games),
            sprt,
            is_named_by_user=plan.event_name != LadderPlan.event_name,
        )
    except (GameError, MapError, BadOpenings) as error:
        raise UsageError(str(error)) from None
    # Import NumPy now: otherwise the first table would be slow, and the page caches slow results for a minute.
    import_module("arena.rating.bradley_terry")
    with open_display(ladder, err, format_status) as display:
        try:
            with interpreter.tuned_interpreter():
                anyio.run(
                    partial(
                        run_ladder,
                        ladder,
                        display,
                        database_url=database_url,
                        external_bot_settings=external_bot_settings,
                        scheduler_address=scheduler_address,
                        port=port,
                    ),
                    backend_options={"use_uvloop": sys.platform != "win32"},
                )
        except BotNotStarted as error:
            raise UsageError(str(error)) from None
        except CannotResumeLadder as error:
            raise CommandError(
                f"{error}; {COMPOSE_NEW_EVENT_HINT}" if external_bot_settings is not None else str(error)
            ) from None
        except (CannotListen, DaskClusterUnavailable, StoreError, TooFewBots) as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(
                f"cannot write {error.filename or ladder.record_file}: {error.strerror}"
            ) from None
    return ladder


def _require_playable_engines(plan: LadderPlan, games: Sequence[AnyGame]) -> None:
    """Raise UsageError if an engine does not exist, or cannot play one of `games`, for example because of an option.

    Without this check, the bot's process would report the error, but only after this program has created the event's store.
    """
    for bot in plan.bots:
        if bot.engine_spec is None:
            continue
        try:
            require_valid_spec(bot.engine_spec, plan.bot_folder or Path())
        except BadSpec as error:
            raise UsageError(f"bot {bot.name} cannot play: {error}") from None
        for game in games:
            reason = find_incompatibility_reason(bot.engine_spec, game)
            if reason is not None:
                raise UsageError(f"bot {bot.name} cannot play: {reason}")


def _require_solved_tables(plan: LadderPlan, games: Sequence[AnyGame]) -> None:
    """Raise UsageError if the adjudication rule `table` is on, but one of `games` has no solved table on this machine."""
    for game in games:
        reason = explain_missing_tablebase(plan.adjudication, game)
        if reason is not None:
            raise UsageError(f"--adjudicate: the rule `table` cannot be used: {reason}")


def _make_openings(plan: LadderPlan, maps: Sequence[str], games: Sequence[AnyGame]) -> Openings:
    """Return the openings of the plan. Raises BadOpenings if their file is unusable.

    maps   names of the maps of the plan; for a game without maps, one name that has no effect
    games  the plan's game on each of `maps`, in the same order
    """
    if plan.openings == SHIPPED_OPENINGS:
        return load_shipped_openings(maps, games, plan.seed)
    if isinstance(plan.openings, Path):
        return ListedOpenings(read_openings(plan.openings, games))
    return RandomOpenings(games, plan.openings, plan.seed) if plan.openings else ListedOpenings()
