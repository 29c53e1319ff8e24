"""A match in this process, without a server: the caller plays one seat, a bot the other.

The referee is that of a server, but it runs no clock: the bot is told a clock that runs according to its time control,
and nobody loses on time, because the result does not count. Use it to try a bot, or to play against one.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from threading import Event
from typing import Any

from msgspec import UNSET

from arena.bots.api.bot import Clock, Ending, Match, Thinking, assign_match, request_move
from arena.bots.client.state.moves import make_move_message
from arena.bots.client.worker import BotFactory
from arena.clock import MONOTONIC
from arena.games.core import Player
from arena.match.referee import Referee
from arena.match.referee_events import MatchOpened, MoveReceived, PlayerReady, PlayerResigned
from arena.match.terms import Terms
from arena.protocol import values
from arena.protocol.adjudication import Adjudication
from arena.protocol.codes import EndReason
from arena.protocol.engines import EngineInfo, Engines
from arena.protocol.record import Record, RecordedMove, Result
from arena.protocol.values import Players

ABANDONED_RESULT = Result(None, EndReason.SERVER_FAULT, "the match was left before its end")
"""Result of a match that is closed before its end."""


class LocalMatch:
    """Match between the caller and a bot. `match.seat` is the bot's seat."""

    def __init__(
        self,
        make_bot: BotFactory,
        match: Match,
        engine: EngineInfo | None = None,
        adjudication: Adjudication | None = None,
    ) -> None:
        """Create the bot and let it prepare. Any exception raised by the bot propagates.

        engine         description of the bot for the record; None to record none
        adjudication   rules that may end the match before the game does; None for none
        """
        self.match = match
        self._terms = Terms(
            match=uuid.uuid4().hex,
            event="play",
            game=match.game,
            players=Players(match.maxie, match.minnie),
            time_control=match.time_control,
            margin_ms=0,
            ready_ms=1,
            engines=Engines(**{match.seat.value: engine}),
            adjudication=adjudication,
        )
        self.moves: list[Any] = []
        self._recorded_moves: list[RecordedMove] = []
        self._clock_seconds = match.time_control.base_ms / 1000
        self._start_time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._turn_start = MONOTONIC.now()
        self._start_referee()
        self._bot = make_bot()
        assign_match(self._bot, match)
        self._bot.prepare()

    @property
    def position(self) -> Any:
        return self._referee.position

    @property
    def result(self) -> Result | None:
        """Result of the match; None while it is in play."""
        return self._referee.recorded_result

    def play_move(self, move: Any) -> None:
        """Play `move` for the caller. Raises IllegalMove for an illegal move."""
        self._add_move(move, None, MONOTONIC.now() - self._turn_start)

    def play_bot_move(self) -> tuple[Any, Thinking | None]:
        """Let the bot move. Return its move, and its analysis or None.

        Raises IllegalMove for an illegal move, and BadChoice for a value that is not a move. Any exception raised by the
        bot propagates.
        """
        control = self.match.time_control
        if self.moves and self.match.game.player(self._positions[-2]) is not self.match.seat:
            self._bot.opponent_moved(self.moves[-1], self.position)
        clock = Clock(
            mine=self._clock_seconds,
            theirs=control.base_ms / 1000,
            increment=control.increment_ms / 1000,
            per_move=control.per_move,
            margin=self.match.margin_ms / 1000,
            arrived=MONOTONIC.now(),
        )
        move = request_move(self._bot, self.position, clock, Event())
        seconds = MONOTONIC.now() - clock.arrived
        thinking = self._bot.thinking
        message, _ = make_move_message(self.match, len(self.moves), self.position, move, thinking)
        self._add_move(move, None if message.thinking is UNSET else message.thinking, seconds)
        if not control.per_move:
            self._clock_seconds = max(0.0, self._clock_seconds - seconds) + clock.increment
        return move, thinking

    def undo(self) -> bool:
        """Take back the caller's last move and the bot's answer to it. Return False if the caller has not moved."""
        game = self.match.game
        earlier_own_plies = [
            n
            for n, position in enumerate(self._positions[:-1])
            if game.player(position) is not self.match.seat
        ]
        if not earlier_own_plies:
            return False
        del self.moves[earlier_own_plies[-1] :], self._recorded_moves[earlier_own_plies[-1] :]
        self._start_referee()
        return True

    def resign(self, player: Player) -> None:
        """End the match with the resignation of `player`."""
        self._referee.handle(PlayerResigned(player), 0)

    def close(self) -> None:
        """Tell the bot the result, and close it. The result of an unfinished match is `ABANDONED_RESULT`."""
        result = self.result or ABANDONED_RESULT
        winner = Player(result.winner) if result.winner else None
        try:
            self._bot.ended(Ending(winner, result.reason, result.detail, len(self.moves), self.position))
        finally:
            self._bot.close()

    def to_record(self) -> Record:
        """Return the record of the match. The result of an unfinished match is `ABANDONED_RESULT`."""
        return self._terms.make_record(
            self._start_time, list(self._recorded_moves), self.result or ABANDONED_RESULT
        )

    def _add_move(self, move: Any, thinking: values.Thinking | None, seconds: float) -> None:
        game = self.match.game
        game.play(self.position, move)  # raises IllegalMove, with which the referee would end the match
        self.moves.append(move)
        self._recorded_moves.append(RecordedMove(game.move_to_data(move), round(seconds * 1000, 3), thinking))
        self._pass_to_referee(self._recorded_moves[-1])
        self._turn_start = MONOTONIC.now()

    def _start_referee(self) -> None:
        """Start a referee, and let it handle the moves so far."""
        self._referee = Referee(self._terms)
        self._positions = [self.position]
        self._referee.handle(MatchOpened(), 0)
        for player in Player:
            self._referee.handle(PlayerReady(player), 0)
        for move in self._recorded_moves:
            self._pass_to_referee(move)

    def _pass_to_referee(self, move: RecordedMove) -> None:
        referee = self._referee
        referee.handle(MoveReceived(referee.mover, referee.ply, move.move, move.thinking), 0)
        self._positions.append(referee.position)
