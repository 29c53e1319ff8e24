"""The house engines: engines that the server itself runs, so that everybody finds an opponent.

A house engine is `arena bot ENGINE` in a process of its own, and connects like any other bot. The server starts the
engine at its first challenge. After a crash or a hang, the engine is restarted, and continues its matches.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

import anyio
import anyio.abc

from arena.games.core import Player
from arena.match.replay import has_player_moved
from arena.processes.bot_process import (
    BotProcess,
    BotServer,
    BotState,
    RestartPolicy,
    make_engine_command,
)
from arena.processes.child import BotLaunchSettings
from arena.processes.tasks import open_background_tasks
from arena.server.core.effects import SaveFinishedMatch, StartHouseEngine
from arena.server.core.inputs import HouseEngineFailed
from arena.server.core.settings import HOUSE_ENGINE_NAME_PREFIX, MAX_MATCHES_PER_HOUSE_ENGINE, HouseEngine
from arena.server.store.tokens import is_valid_name

if TYPE_CHECKING:
    from arena.server.shell.shell import Shell

log = logging.getLogger("arena.house")

DEFAULT_HOUSE_ENGINES = ("greedy", "minimax:depth=2,evaluator=features", "alphabeta:depth=6")
"""Engines that a server runs by default: an easy one for beginners, one of medium strength, and a strong one.

Each wins about nine of ten matches against the one before it. The medium one uses the most CPU time: about 0.3 s for a move
on `world`.
"""
NO_HOUSE_ENGINES = "none"
"""Text that stands for an empty list of the server's own engines."""
HOUSE_ENGINE_RESTART_POLICY = RestartPolicy(max_restarts=100, max_backoff_seconds=60)
"""Restart limits of the server's own engines.

A server runs for months. It therefore restarts an engine for hours before it gives the engine up.
"""


class HouseEngineError(ValueError):
    """Raised for a list of engines that cannot be parsed, or an engine that cannot be started; the message is one line."""


@dataclass(frozen=True)
class HouseEnginePlan:
    """Engines that a server itself runs (house engines), with options for running them."""

    engines: Sequence[HouseEngine] = ()
    admits_guests: bool = False
    """True if guests (clients without a token) may connect and play the engines."""
    checks_engines_at_start: bool = False
    """True to start all engines when the server starts, and raise HouseEngineError if one cannot be started."""
    report_failure: Callable[[str], None] = log.warning
    """Function that is called after each failure of an engine: a crash, or a hang.

    Its argument is a line that names the engine's bot, followed by the bot's last output.
    """
    restart_policy: RestartPolicy = HOUSE_ENGINE_RESTART_POLICY
    game_names: Sequence[str] = ()
    """User-written games that the engines also play, as for `arena bot --game`."""


EMPTY_HOUSE_ENGINE_PLAN = HouseEnginePlan()
"""Plan of a server without engines of its own."""


def parse_house_engines(engine_texts: Sequence[str]) -> list[HouseEngine]:
    """Parse a list of engines with their options, such as `greedy` and `alphabeta:depth=6,exact=yes`.

    engine_texts  texts with one engine, or several separated by commas. A part such as `exact=yes` belongs to the engine
                  before it

    An empty list, or only `none`, means no engines. The bot of an engine that occurs again gets a number in its name, as in
    `house-greedy-2`. Raises HouseEngineError for an invalid engine.
    """
    parts = [part.strip() for text in engine_texts for part in text.split(",")]
    if parts in ([], [NO_HOUSE_ENGINES]):
        return []
    specs: list[str] = []
    for part in parts:
        # Commas separate engines, and also the options of one engine.
        if specs and ":" in specs[-1] and "=" in part and ":" not in part:
            specs[-1] += f",{part}"
        else:
            specs.append(part)
    engines: list[HouseEngine] = []
    for spec in specs:
        name = HOUSE_ENGINE_NAME_PREFIX + PurePath(spec.partition(":")[0]).stem
        same_name_count = sum(
            engine.bot_name == name or engine.bot_name.startswith(f"{name}-") for engine in engines
        )
        name = f"{name}-{same_name_count + 1}" if same_name_count else name
        if not spec or not is_valid_name(name):
            raise HouseEngineError(
                f"{spec!r:.80} is not an engine: write a list such as `greedy,alphabeta:depth=6`, or `{NO_HOUSE_ENGINES}` for none"
            )
        engines.append(HouseEngine(name, spec))
    return engines


class HouseEngineProcesses:
    """Processes of the engines that one server itself runs. Made by `open_house_engines`."""

    def __init__(
        self,
        plan: HouseEnginePlan,
        shell: Shell,
        bot_server: BotServer,
        server_url: str,
        tasks: anyio.abc.TaskGroup,
    ) -> None:
        """Prepare the processes, and start those engines whose matches were interrupted when the server stopped.

        The other engines are started by `start_and_check_engines`, or when the core requests them (`StartHouseEngine`).

        plan        engines, and options for running them
        bot_server  server on which the bots play; it issues their tokens
        server_url  URL of the server, at which the engines connect
        tasks       task group in which the processes are watched
        """
        self._plan = plan
        self._shell = shell
        self._tasks = tasks
        self._is_starting = False
        self._started_names: set[str] = set()
        self._failed_names: set[str] = set()
        self._state_changed = anyio.Event()
        self._processes = {
            engine.bot_name: BotProcess(
                BotLaunchSettings(
                    engine.bot_name,
                    _make_house_engine_command(engine, server_url, plan.game_names),
                    server_url,
                ),
                bot_server,
                plan.restart_policy,
                plan.report_failure,
                self._report_given_up_engines,
            )
            for engine in plan.engines
        }
        shell.add_effect_handler(StartHouseEngine, lambda request: self._start_engine(request.engine_name))
        shell.add_effect_handler(SaveFinishedMatch, self._record_moves_of_house_engines)
        for name in self._processes:
            bot = shell.core.find_bot(name)
            if (
                bot is not None and bot.seats_by_match_id
            ):  # the engine continues its matches after the restart
                self._start_engine(name)

    async def start_and_check_engines(self) -> None:
        """Start all engines, and wait until each is connected or has failed once.

        An engine has failed if it ends, or if it has not connected after `RestartPolicy.connect_timeout_seconds`. Raises
        HouseEngineError if an engine ends with exit code 2 (it cannot be started) before it has connected.
        """
        self._is_starting = True
        for name in self._processes:
            self._start_engine(name)
        while any(process.is_first_start_pending for process in self._processes.values()):
            await self._state_changed.wait()
        self._is_starting = False
        for process in self._processes.values():
            if process.start_error is not None:
                raise HouseEngineError(process.start_error)

    def _start_engine(self, bot_name: str) -> None:
        if bot_name in self._failed_names:
            self._shell.submit(
                HouseEngineFailed(bot_name)
            )  # for a core that was rebuilt since the first report
        elif bot_name not in self._started_names:
            self._started_names.add(bot_name)
            self._tasks.start_soon(self._processes[bot_name].run)

    def _record_moves_of_house_engines(self, closed_match: SaveFinishedMatch) -> None:
        """Record whether each of the server's own engines in a finished match made a move.

        An engine without a move in several matches in a row counts as hung.
        """
        for player in Player:
            process = self._processes.get(closed_match.record.players.get_bot_name(player))
            if process is None:
                continue
            match has_player_moved(closed_match.record, player):
                case True:
                    process.record_match_with_moves()
                case False:
                    process.record_match_without_moves()

    def _report_given_up_engines(self) -> None:
        """Report to the server's core the engines that were given up since the last call, so that nobody can challenge them.

        An engine is given up if it cannot be started, or after too many failures in a row.
        """
        for name, process in self._processes.items():
            if process.state is BotState.LOST and name not in self._failed_names:
                self._failed_names.add(name)
                if process.start_error is not None and not self._is_starting:
                    self._plan.report_failure(f"bot {name} cannot be started: {process.start_error}")
                self._shell.submit(HouseEngineFailed(name))
        self._state_changed.set()
        self._state_changed = anyio.Event()


def _make_house_engine_command(
    engine: HouseEngine, server_url: str, game_names: Sequence[str]
) -> tuple[str, ...]:
    command = make_engine_command(engine.engine_spec, server_url, engine.bot_name, game_names)
    return (*command, "--challenges-only", "--matches", str(MAX_MATCHES_PER_HOUSE_ENGINE))


@asynccontextmanager
async def open_house_engines(
    plan: HouseEnginePlan, shell: Shell, bot_server: BotServer, server_url: str
) -> AsyncIterator[None]:
    """Start the server's own engines whenever the core requests them. Stop them at the end of the `async with` block.

    Raises HouseEngineError if `plan.checks_engines_at_start` is True and an engine cannot be started.
    """
    async with open_background_tasks() as tasks:
        house = HouseEngineProcesses(plan, shell, bot_server, server_url, tasks)
        if plan.checks_engines_at_start:
            await house.start_and_check_engines()
        yield
