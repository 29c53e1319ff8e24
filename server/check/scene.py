"""A match of the script: the bot under test in one seat, moves by chance in the other."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Sequence
from typing import Any

from arena.games.core import AnyGame, BadData, IllegalMove, Player
from arena.match.referee import SEATS
from arena.protocol.codes import EndReason
from arena.protocol.messages import Accepted, ClientMessage, End, Move, Ready, Resign, Start, Turn
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Clocks, Data, Players
from arena.server.check.peer import Fault, Peer


class Scene:
    """One match. Every step that waits for the bot raises Fault when the bot does not do as it should."""

    def __init__(self, peer: Peer, game: AnyGame, seat: Player, control: TimeControl, margin_ms: int) -> None:
        self.peer = peer
        self.game = game
        self.seat = seat
        self.control = control
        self.margin_ms = margin_ms
        self.match = uuid.uuid4().hex
        self.moves: list[Data] = []
        self.position: Any = game.start()
        self._chance = random.Random(1)
        self._turned = 0.0
        self._early: tuple[ClientMessage, float] | None = None

    @property
    def over(self) -> bool:
        return self.game.outcome(self.position) is not None

    @property
    def bots_turn(self) -> bool:
        return self.game.player(self.position) is self.seat

    @property
    def start(self) -> Start:
        """The start message."""
        names = Players("checked", "script") if self.seat is Player.MAXIE else Players("script", "checked")
        ready_ms = int(1000 * self.peer.patience)
        return Start(
            self.match,
            self.game.name,
            self.game.setup(),
            SEATS[self.seat],
            names,
            self.control,
            self.margin_ms,
            ready_ms,
        )

    async def begin(self, **unknown: object) -> None:
        """Start the match, and wait until the bot is ready."""
        await self.peer.say(self.start, **unknown)
        await self.ready()

    async def ready(self) -> None:
        """Wait for `ready`. A bot that is back may first send the move that it had thought of meanwhile."""
        while True:
            message, at = await self.peer.hear("ready")
            if isinstance(message, Move) and message.match == self.match:
                if message.ply == len(self.moves) > 0:
                    self._early = message, at
                    continue
                if self._repeats(message):
                    continue
            break
        if not isinstance(message, Ready) or message.match != self.match:
            raise Fault(f"the start was answered with {_short(message)}, not with ready for its match")

    async def turn(self, **unknown: object) -> None:
        """Send the turn of this ply."""
        self._turned = time.monotonic()
        await self.peer.say(self.turn_at(len(self.moves)), **unknown)

    def turn_at(self, ply: int) -> Turn:
        """The turn message of a ply."""
        clocks = Clocks(self.control.base_ms, self.control.base_ms)
        return Turn(self.match, ply, self.moves[:ply], clocks, self.control.increment_ms)

    async def answer(self, **unknown: object) -> None:
        """Take the bot's move, in time and legal, and acknowledge it."""
        allowed = (self.control.base_ms + self.margin_ms) / 1000
        while True:
            if self._early is not None:
                (message, at), self._early = self._early, None
            else:
                message, at = await self.peer.hear("move", allowed + self.peer.patience)
            if not self._repeats(message):
                break
        if isinstance(message, Resign):
            raise Fault(f"it resigned at ply {len(self.moves)} of {self.game.name} as {self.seat}")
        if not isinstance(message, Move):
            raise Fault(f"the turn was answered with {_short(message)}, not with a move")
        if message.match != self.match:
            raise Fault(f"the move names match {message.match!r:.70}, and the turn was of {self.match}")
        self._expect_new(message)
        if message.ply != len(self.moves):
            raise Fault(f"the move names ply {message.ply}, and the turn was of ply {len(self.moves)}")
        took = max(0.0, at - self._turned)
        if took > allowed:
            where = f"{self.control.base_ms} ms and a margin of {self.margin_ms} ms"
            raise Fault(f"the move at ply {message.ply} took {1000 * took:.0f} ms, of {where}")
        self.play(message.move)
        left = Accepted(self.match, message.ply, round(1000 * took, 3), self.control.base_ms)
        await self.peer.say(left, **unknown)

    def play(self, data: Data) -> None:
        """Play a move of the bot. Raises Fault."""
        try:
            self.position = self.game.play(self.position, self.game.move_from_data(data))
        except (IllegalMove, BadData) as error:
            raise Fault(f"ply {len(self.moves)}: {error}") from None
        self.moves.append(data)

    def set_up(self, moves: Sequence[Data]) -> None:
        """Begin anew with these moves played. Raises Fault where one is illegal."""
        self.position, self.moves = self.game.start(), []
        for move in moves:
            self.play(move)

    def go_on_with(self, peer: Peer) -> None:
        """Continue on another connection of the bot."""
        self.peer = peer

    def reply(self) -> None:
        """Play a move by chance for the other seat, or for both while nothing is asked of the bot."""
        move = self._chance.choice(self.game.moves(self.position))
        self.position = self.game.successor(self.position, move)
        self.moves.append(self.game.move_to_data(move))

    async def exchange(self, **unknown: object) -> None:
        """Play one move of the bot, after one of the other seat where that is to move."""
        if not self.bots_turn:
            self.reply()
        if not self.over:
            await self.turn(**unknown)
            await self.answer(**unknown)

    async def play_on(self, most: int) -> None:
        """Play at most so many moves of the bot, then end the match."""
        for _ in range(most):
            if self.over:
                break
            await self.exchange()
        await self.end()

    async def end(self, **unknown: object) -> None:
        """Say how the match ended: by the rules, or because the script resigns."""
        outcome = self.game.outcome(self.position)
        winner = self.seat if outcome is None else outcome.winner
        reason = EndReason.RESIGNATION if outcome is None else EndReason.of(outcome.word)
        clocks = Clocks(self.control.base_ms, self.control.base_ms)
        seat = None if winner is None else SEATS[winner]
        await self.peer.say(End(self.match, seat, reason, reason.meaning, self.moves, clocks), **unknown)

    async def quiet(self, seconds: float) -> None:
        """Wait for a while in which nothing may come but repeats. Raises Fault."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            heard = await self.peer.hear_within("silence", left)
            if heard is not None and not self._repeats(heard[0]):
                self._expect_new(heard[0])
                raise Fault(f"{_short(heard[0])} came where nothing was asked")

    def _expect_new(self, message: object) -> None:
        if isinstance(message, Move) and message.match == self.match and message.ply < len(self.moves):
            played = self.moves[message.ply]
            raise Fault(f"it played ply {message.ply} again, with {message.move!r:.60} after {played!r}")

    def _repeats(self, message: object) -> bool:
        """Whether a message says again what was said before, which is harmless."""
        if isinstance(message, Ready):
            return message.match == self.match
        if not isinstance(message, Move) or message.match != self.match or message.ply >= len(self.moves):
            return False
        return bool(self.moves[message.ply] == message.move)


def _short(message: object) -> str:
    return f"{type(message).__name__.lower()}"
