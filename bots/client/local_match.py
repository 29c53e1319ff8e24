"""A match in this process, without a server: the caller plays one seat, a bot the other.

The bot's clock runs according to its time control, but nobody loses on time: the result does not count.
Use it to try a bot, or to play against one.
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
from arena.games.catalogue import CATALOGUE
from arena.games.core import Player
from arena.match.adjudication import adjudicate
from arena.match.repetition import RepetitionCounter
from arena.protocol import values
from arena.protocol.adjudication import Adjudication
from arena.protocol.codes import EndReason
from arena.protocol.engines import EngineInfo, Engines
from arena.protocol.record import FORMAT, Record, RecordedMove, Result
from arena.protocol.values import Players, Seat
from arena.solved.solution import load_solution

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
        self._engine = engine
        self._adjudication = adjudication
        self._solution = (
            load_solution(match.game) if adjudication is not None and adjudication.table else None
        )
        self.moves: list[Any] = []
        self._positions = [match.game.start()]
        self._recorded_moves: list[RecordedMove] = []
        self._clock_seconds = match.time_control.base_ms / 1000
        self._start_time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._turn_start = MONOTONIC.now()
        self.result: Result | None = None
        """Result of the match, or None while it is in play."""
        self._bot = make_bot()
        assign_match(self._bot, match)
        self._bot.prepare()

    @property
    def position(self) -> Any:
        return self._positions[-1]

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
        del (
            self.moves[earlier_own_plies[-1] :],
            self._recorded_moves[earlier_own_plies[-1] :],
            self._positions[earlier_own_plies[-1] + 1 :],
        )
        self.result = None
        return True

    def resign(self, player: Player) -> None:
        """End the match with the resignation of `player`."""
        self.result = Result(_to_seat(player.opponent), EndReason.RESIGNATION, f"{player} resigned")

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
        return Record(
            format=FORMAT,
            match=uuid.uuid4().hex,
            event="play",
            game=self.match.game.name,
            setup=self.match.game.setup(),
            players=Players(self.match.maxie, self.match.minnie),
            time_control=str(self.match.time_control),
            started=self._start_time,
            moves=list(self._recorded_moves),
            result=self.result or ABANDONED_RESULT,
            adjudication=self._adjudication,
            engines=None if self._engine is None else Engines(**{self.match.seat.value: self._engine}),
            rules=CATALOGUE.get_rules_digest(self.match.game),
        )

    def _add_move(self, move: Any, thinking: values.Thinking | None, seconds: float) -> None:
        game = self.match.game
        self._positions.append(game.play(self.position, move))
        self.moves.append(move)
        self._recorded_moves.append(RecordedMove(game.move_to_data(move), round(seconds * 1000, 3), thinking))
        self._turn_start = MONOTONIC.now()
        self.result = self._compute_result()

    def _compute_result(self) -> Result | None:
        """Return the result of the match at the current position, or None if the match is not over."""
        game = self.match.game
        outcome = game.outcome(self.position)
        if outcome is not None:
            reason = EndReason(outcome.word)
            return Result(_to_seat(outcome.winner), reason, reason.meaning + outcome.margin_text)
        if game.is_too_long(len(self._recorded_moves)):
            return Result(None, EndReason.PLY_LIMIT, EndReason.PLY_LIMIT.meaning)
        # Moves may have been taken back, so repetitions are counted again from the start.
        occurrences = RepetitionCounter(game, self._positions).latest_count
        verdict = adjudicate(
            self._adjudication, self.position, self._recorded_moves, occurrences, self._solution
        )
        if verdict is None:
            return None
        return Result(_to_seat(verdict.winner), EndReason.ADJUDICATED, verdict.detail)


def _to_seat(player: Player | None) -> Seat | None:
    return None if player is None else "maxie" if player is Player.MAXIE else "minnie"
