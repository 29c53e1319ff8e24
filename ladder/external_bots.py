"""Bots of a ladder (local tournament) that connect by themselves, from other machines or containers.

The runner of the ladder uses such bots through the same interface as bots that the ladder starts (ladder.bot_pool.BotConnectionPool).
The ladder cannot restart such a bot. So the bot drops out if it is away too long, or loses several matches in a row without
making a move. A bot is away while it is disconnected, or connected but takes no more matches.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import anyio

from arena.clock import MONOTONIC_CLOCK, TimeSource
from arena.processes.tasks import open_background_tasks
from arena.server.host import ArenaServer

COMPOSE_NEW_EVENT_HINT = "with Docker Compose, EVENT=NAME docker compose up begins another event"
"""Advice for users of Docker Compose whose event cannot be resumed."""

MISSING_BOTS_NOTICE_INTERVAL_SECONDS = 30
"""Seconds without a new bot after which a ladder that waits for bots reports which ones are missing."""
MIN_EXTERNAL_BOTS = 2
"""Minimum number of connected bots with which a ladder begins once `ExternalBotSettings.max_bot_wait_seconds` have passed."""
NEW_BOT_WAIT_SECONDS = 5
"""Seconds without a new bot after which a ladder begins, if enough bots are connected."""
MAX_AWAY_SECONDS = 30
"""Maximum time, in seconds, for which a bot may be disconnected or accept no matches. A bot that is away longer drops out."""
MAX_MATCHES_WITHOUT_MOVE = 2
"""A bot that makes no move in this many matches in a row plays no more in the event."""


class TooFewBots(Exception):
    """Raised when fewer than two bots connected. The message is one line that names the connected or the missing bots."""


@dataclass(frozen=True)
class ExternalBotSettings:
    """Address at which a ladder waits for external bots, the number of bots, and the maximum time to wait."""

    host: str
    port: int
    min_bots: int
    """Number of bots for which the ladder waits. More bots may connect."""
    max_bot_wait_seconds: float = 60
    """Maximum number of seconds to wait for the bots."""


@dataclass
class ExternalBot:
    """State of a bot that connects by itself: away (disconnected, or accepting no matches) or not, playing, dropped out."""

    has_dropped_out: bool = False
    """True if the bot plays no more: it made no move in MAX_MATCHES_WITHOUT_MOVE matches in a row, or was away for too long."""
    is_playing: bool = False
    """True from the start of a match until the match is over."""
    _away_since_seconds: float | None = None
    _matches_without_move: int = 0

    @property
    def can_start_match(self) -> bool:
        """Return True if the bot is not away and can begin a match."""
        return not (self.is_playing or self.has_dropped_out or self._away_since_seconds is not None)

    def record_match(self, *, made_move: bool) -> None:
        """Record whether the bot made a move in its last match. A bot without a move in several matches in a row drops out."""
        self._matches_without_move = 0 if made_move else self._matches_without_move + 1
        self.has_dropped_out = self.has_dropped_out or self._matches_without_move >= MAX_MATCHES_WITHOUT_MOVE

    def record_presence(self, now_seconds: float, *, is_present: bool) -> None:
        """Record whether the bot is present (connected and accepting matches) at time `now_seconds` (monotonic, in seconds)."""
        if is_present:
            self._away_since_seconds = None
        elif self._away_since_seconds is None:
            self._away_since_seconds = now_seconds
        else:
            self.has_dropped_out = (
                self.has_dropped_out or now_seconds - self._away_since_seconds > MAX_AWAY_SECONDS
            )


@dataclass
class ExternalBots:
    """Bots that connected to a ladder by themselves. Created by `wait_for_external_bots`.

    Implements `ladder.bot_pool.BotConnectionPool`.
    """

    _host: ArenaServer
    _game: str
    _bots: dict[str, ExternalBot] = field(default_factory=dict)
    _bots_changed: anyio.Event = field(default_factory=anyio.Event)
    _clock: TimeSource = MONOTONIC_CLOCK
    missing_bots_text: str = ""
    """Text that says which bots are missing; empty if none is."""

    @property
    def bot_names(self) -> list[str]:
        """Return the names of the bots in alphabetical order, since their order of arrival has no meaning."""
        return sorted(self._bots)

    def reserve_connection(self, bot: str) -> str | None:
        external_bot = self._bots[bot]
        if not external_bot.can_start_match:
            return None
        external_bot.is_playing = True
        return bot

    def release_connection(self, connection_name: str) -> None:
        self._bots[connection_name].is_playing = False

    def finish_match(
        self,
        bot: str,
        connection_name: str,
        *,
        made_move: bool | None,
        loss_cause: str = "",  # noqa: ARG002  the bot's output is on its owner's machine
    ) -> None:
        self.release_connection(connection_name)
        if made_move is not None:
            self._bots[bot].record_match(made_move=made_move)
        self._notify_bot_change()

    def get_reported_thread_count(self, bot: str) -> int:
        return self._host.get_reported_thread_count(bot)

    def has_dropped_out(self, bot: str) -> bool:
        return self._bots[bot].has_dropped_out

    async def wait_for_bot_change(self) -> None:
        await self._bots_changed.wait()

    def raise_if_bot_not_started(self) -> None:
        """Do nothing: a start cannot fail, because this process starts no bots."""

    def _notify_bot_change(self) -> None:
        self._bots_changed.set()
        self._bots_changed = anyio.Event()

    @asynccontextmanager
    async def open_connection_tracking(self) -> AsyncIterator[None]:
        """For the duration of the `with` block, record which bots are away (disconnected, or accepting no matches)."""
        async with open_background_tasks() as tasks:
            tasks.start_soon(self._watch_connections)
            yield

    async def _watch_connections(self) -> None:
        while True:
            connected = self._host.list_available_bot_names(self._game)
            now = self._clock.now()
            for name, bot in self._bots.items():
                bot.record_presence(now, is_present=name in connected)
            self._notify_bot_change()
            # Look once a second even without a change: a bot that stays away drops out after MAX_AWAY_SECONDS.
            with anyio.move_on_after(1):
                await self._host.shell.wait_for_next_batch()


async def wait_for_external_bots(
    host: ArenaServer,
    game: str,
    settings: ExternalBotSettings,
    expected_names: Sequence[str] = (),
    on_notice: Callable[[str], None] = lambda _text: None,
    clock: TimeSource = MONOTONIC_CLOCK,
) -> ExternalBots:
    """Wait for bots that play `game`, and return them.

    host            server to which the bots connect
    game            name of the game
    settings        number of bots to wait for, and longest time to wait
    expected_names  names of the only bots to wait for; empty to accept any bots. The result includes all of these bots;
                    bots that did not connect in time are marked as away.
    on_notice       function that is called during the wait with a message that says which bots are missing

    Raises TooFewBots if fewer than two bots connected.
    """
    connected: set[str] = set()
    start_time = clock.now()
    with anyio.move_on_after(settings.max_bot_wait_seconds):
        while not _are_enough_bots_connected(connected, settings, expected_names):
            with anyio.move_on_after(MISSING_BOTS_NOTICE_INTERVAL_SECONDS) as notice_timeout:
                connected = await _wait_until_bots_change(host, game, connected)
            waited_seconds = round(clock.now() - start_time)
            if notice_timeout.cancelled_caught and waited_seconds < settings.max_bot_wait_seconds:
                missing_text = _describe_missing_bots(connected, settings, expected_names, waited_seconds)
                on_notice(f"{missing_text}; waiting up to {settings.max_bot_wait_seconds:g} s")
    with anyio.move_on_after(settings.max_bot_wait_seconds):
        while (
            not expected_names
            and _are_enough_bots_connected(connected, settings, expected_names)
            and (new_bots := await _wait_briefly_for_new_bots(host, game, connected))
        ):
            connected |= new_bots
    connected |= host.list_available_bot_names(game)
    if expected_names:
        connected &= set(expected_names)
    missing_text = (
        ""
        if _are_enough_bots_connected(connected, settings, expected_names)
        else _describe_missing_bots(connected, settings, expected_names, settings.max_bot_wait_seconds)
    )
    if len(connected) < MIN_EXTERNAL_BOTS:
        advice = (
            f"; connect them, or name another event with --event; {COMPOSE_NEW_EVENT_HINT}"
            if expected_names
            else ""
        )
        raise TooFewBots(f"{missing_text}{advice}")
    bots = {name: ExternalBot() for name in expected_names or connected}
    for name, bot in bots.items():
        bot.record_presence(clock.now(), is_present=name in connected)
    return ExternalBots(host, game, bots, _clock=clock, missing_bots_text=missing_text)


def _are_enough_bots_connected(
    connected_bots: set[str], settings: ExternalBotSettings, expected_names: Sequence[str]
) -> bool:
    """Return True if all bots of `expected_names` are connected.

    If `expected_names` is empty, return True if as many bots are connected as the settings require.
    """
    return (
        connected_bots >= set(expected_names) if expected_names else len(connected_bots) >= settings.min_bots
    )


def _describe_missing_bots(
    connected_bots: set[str],
    settings: ExternalBotSettings,
    expected_names: Sequence[str],
    waited_seconds: float,
) -> str:
    """Return a message that says which bots did not connect within `waited_seconds`, for use if too few bots connected.

    Without `expected_names`, the names of the missing bots are unknown. The message then lists the connected bots.
    """
    if expected_names:
        missing_text = ", ".join(sorted(set(expected_names) - connected_bots))
        return f"these bots of the event did not connect within {waited_seconds:g} s: {missing_text}"
    connected_text = ", ".join(sorted(connected_bots)) or "none"
    return f"{len(connected_bots)} of {settings.min_bots} bots connected within {waited_seconds:g} s: {connected_text}"


async def wait_for_bots_of_finished_event(
    host: ArenaServer, game: str, settings: ExternalBotSettings
) -> None:
    """Wait for the bots of an event that has no match left, so that the server can tell them that the event is over.

    The server tells the connected bots when it closes. A bot that found no server would keep trying to connect.
    """
    with suppress(TooFewBots):
        await wait_for_external_bots(host, game, settings)


async def _wait_until_bots_change(host: ArenaServer, game: str, known_bots: set[str]) -> set[str]:
    """Wait until the connected bots differ from `known_bots`, and return the names of all connected bots."""
    while (connected := host.list_available_bot_names(game)) == known_bots:
        await host.shell.wait_for_next_batch()
    return connected


async def _wait_briefly_for_new_bots(host: ArenaServer, game: str, known_bots: set[str]) -> set[str]:
    """Wait for bots that play `game` and are not in `known_bots`, and return their names as soon as one connects.

    Return an empty set if none connects within NEW_BOT_WAIT_SECONDS.
    """
    with anyio.move_on_after(NEW_BOT_WAIT_SECONDS):
        while not (new_bots := host.list_available_bot_names(game) - known_bots):
            await host.shell.wait_for_next_batch()
        return new_bots
    return set()
