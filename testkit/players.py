"""Lightweight bots for benchmarks and tests: many in one process, without threads.

The bots remember the moves and results that a server has confirmed, so that a test can compare these with the store.
`python -m testkit.players URL COUNT SECONDS NAME` plays with COUNT bots, which think up to SECONDS before each move and
are called NAME with a number. The program plays until it is killed.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

from msgspec import UNSET
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.typing import Subprotocol

from arena.games.catalogue import make_game
from arena.games.core import AnyGame
from arena.protocol.codec import decode_server_message, encode_message
from arena.protocol.messages import (
    SUBPROTOCOL,
    Accepted,
    ClientMessage,
    End,
    Error,
    Hello,
    Move,
    Ready,
    Start,
    Turn,
    Welcome,
)

RECONNECT_PAUSE_SECONDS = 0.1
"""Pause before a bot tries to reconnect, in seconds."""


@dataclass
class RandomPlayer:
    """Bot that plays random legal moves, one match at a time. When the bot is disconnected, it reconnects with its session.

    started_match_ids: ids of the matches that began
    received_errors: `error` messages of the server
    welcome_count: number of times that the server has welcomed the bot
    """

    url: str
    name: str
    draw_think_seconds: Callable[[], float] = lambda: 0.0
    """Function that returns the thinking time before a move, in seconds."""
    acknowledged_moves: dict[tuple[str, int], Any] = field(default_factory=dict)
    """Moves of this bot that the server has acknowledged, by (match, ply)."""
    received_ends: dict[str, list[End]] = field(default_factory=dict)
    """`end` messages by match. A match has several `end` messages if the server repeats the message after a reconnection."""
    started_match_ids: set[str] = field(default_factory=set)
    received_errors: list[Error] = field(default_factory=list)
    welcome_count: int = 0
    fallback_urls: tuple[str, ...] = ()
    """Further URLs of the same arena, such as the URLs of other edge processes. The bot tries `url` first, and then these
    URLs in turn.
    """
    keepalive_seconds: float = 20.0
    """Seconds between two pings, and maximum wait for the answer to a ping and for a new connection."""
    last_message_time_by_match: dict[str, float] = field(default_factory=dict)
    """Time of the last message that the server sent about each match in progress, in monotonic seconds."""
    _session_secret: str = ""
    _game_by_match: dict[str, AnyGame] = field(default_factory=dict)
    _last_sent_move_by_match: dict[str, Move] = field(default_factory=dict)

    def clear_received_messages(self) -> None:
        """Forget all messages received so far, such as confirmed moves and results. Matches in progress continue."""
        for collection in (
            self.acknowledged_moves,
            self.received_ends,
            self.started_match_ids,
            self.received_errors,
            self.last_message_time_by_match,
        ):
            collection.clear()

    async def run(self, quota: int | None = None) -> None:
        """Play until cancelled, and reconnect whenever the connection is lost.

        quota: number of matches that the bot accepts from now on; None for no limit
        """
        addresses = cycle((self.url, *self.fallback_urls))
        while True:
            try:
                async with connect(
                    next(addresses),
                    subprotocols=[Subprotocol(SUBPROTOCOL)],
                    compression=None,
                    proxy=None,
                    open_timeout=self.keepalive_seconds,
                    ping_interval=self.keepalive_seconds,
                    ping_timeout=self.keepalive_seconds,
                    close_timeout=1,
                ) as connection:
                    await self._handle_messages(connection, quota)
            except (OSError, TimeoutError, ConnectionClosed, InvalidHandshake):
                pass  # the server is away, or has just gone
            await asyncio.sleep(RECONNECT_PAUSE_SECONDS * random.uniform(0.5, 1.5))

    async def _handle_messages(self, connection: ClientConnection, quota: int | None) -> None:
        await self._send_message(
            connection,
            Hello(self.name, session=self._session_secret, quota=UNSET if quota is None else quota),
        )
        while True:
            match decode_server_message(await connection.recv()):
                case Welcome(session=session):
                    self._session_secret = session
                    self.welcome_count += 1
                    for (
                        match_id
                    ) in self._game_by_match:  # the server answers with the end of a match that is over
                        await self._send_message(connection, Ready(match_id))
                case Start(match=match, game=game, setup=setup):
                    self.last_message_time_by_match[match] = time.monotonic()
                    self.started_match_ids.add(match)
                    self._game_by_match[match] = make_game(game, setup)
                    await self._send_message(connection, Ready(match))
                case Turn() as turn:
                    self.last_message_time_by_match[turn.match] = time.monotonic()
                    await self._answer_turn(connection, turn)
                case Accepted(match=match, ply=ply):
                    self.last_message_time_by_match[match] = time.monotonic()
                    sent = self._last_sent_move_by_match.get(match)
                    # A repeated message may be about an earlier move.
                    if sent is not None and sent.ply == ply:
                        self.acknowledged_moves[match, ply] = sent.move
                case End() as end:
                    self.received_ends.setdefault(end.match, []).append(end)
                    self._game_by_match.pop(end.match, None)
                    self.last_message_time_by_match.pop(end.match, None)
                    self._last_sent_move_by_match.pop(end.match, None)
                case Error() as error:
                    self.received_errors.append(error)

    async def _answer_turn(self, connection: ClientConnection, turn: Turn) -> None:
        sent = self._last_sent_move_by_match.get(turn.match)
        if sent is None or sent.ply != turn.ply:
            pause_seconds = self.draw_think_seconds()
            if pause_seconds:
                # A bot that loses its connection stops thinking, and reconnects.
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause_seconds):
                        await connection.wait_closed()
            game = self._game_by_match[turn.match]
            position = game.start()
            for move in turn.moves:
                position = game.play(position, game.move_from_data(move))
            choice = game.move_to_data(random.choice(game.moves(position)))
            sent = self._last_sent_move_by_match[turn.match] = Move(turn.match, turn.ply, choice)
        await self._send_message(connection, sent)

    @staticmethod
    async def _send_message(connection: ClientConnection, message: ClientMessage) -> None:
        await connection.send(encode_message(message))


async def run_players(url: str, player_count: int, max_think_seconds: float, name_prefix: str) -> None:
    """Play until cancelled with `player_count` bots, which think up to `max_think_seconds` seconds per move.

    name_prefix: beginning of the bots' names, before the number
    """
    async with asyncio.TaskGroup() as tasks:
        for number in range(player_count):
            player = RandomPlayer(
                url, f"{name_prefix} {number}", lambda: random.uniform(0, max_think_seconds)
            )
            tasks.create_task(player.run())


if __name__ == "__main__":
    asyncio.run(run_players(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]))
