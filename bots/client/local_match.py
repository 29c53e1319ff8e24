"""A match in this process, without a server: the caller plays one seat, a bot the other.

Use it to try a bot, or to play against one. The referee is the same as on a server, but nobody loses on time: the
clock of the player to move runs down to 0, and stays there until the move.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from arena.bots.api.bot import Ending, Match, Thinking, assign_match
from arena.bots.client.local_turn import choose_move
from arena.bots.client.worker import BotFactory
from arena.clock import MONOTONIC_CLOCK
from arena.games.core import Player
from arena.match.clock import NS_PER_MS
from arena.match.referee import Referee
from arena.match.referee_events import MatchOpened, MoveReceived, PlayerReady, PlayerResigned, TurnStarted
from arena.match.terms import MatchTerms
from arena.protocol.adjudication import Adjudication
from arena.protocol.codes import EndReason
from arena.protocol.engines import EngineInfo, EnginesBySeat
from arena.protocol.record import Record, RecordedMove, Result
from arena.protocol.values import Players

UNLIMITED_NETWORK_GRACE_MS = 10**12
"""Network grace of a match in ms, by which a move may exceed the time left: so long that nobody loses on time."""

ABANDONED_MATCH_RESULT = Result(None, EndReason.SERVER_FAULT, "the match was left before its end")
"""Result that is recorded for a match that is closed before its end."""


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

        make_bot      creates the bot
        match         match to assign to the bot: its game, its seat and its time control
        engine        description of the bot for the match record; None to record none
        adjudication  rules by which the match may be decided early; None to play until the game is over
        """
        self.match = match
        self._terms = MatchTerms(
            match=uuid.uuid4().hex,
            event="play",
            game=match.game,
            players=Players(match.maxie, match.minnie),
            time_control=match.time_control,
            margin_ms=UNLIMITED_NETWORK_GRACE_MS,
            ready_ms=1,
            engines=EnginesBySeat(**{match.seat.value: engine}),
            adjudication=adjudication,
        )
        self._start_time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._bot = make_bot()
        assign_match(self._bot, match)
        self._bot.prepare()
        self._restart_referee([])

    @property
    def moves(self) -> list[Any]:
        """Return the moves played so far."""
        return [self.match.game.move_from_data(move.move) for move in self._referee.moves]

    @property
    def position(self) -> Any:
        return self._referee.position

    @property
    def result(self) -> Result | None:
        """Return the result of the match; None while it is in play."""
        return self._referee.recorded_result

    def play_move(self, move: Any) -> None:
        """Play `move` for the caller's seat, the one that is not the bot's. Raises IllegalMove for an illegal move."""
        referee = self._referee
        self._submit_move_to_referee(
            MoveReceived(referee.mover, referee.ply, self.match.game.move_to_data(move))
        )

    def play_bot_move(self) -> tuple[Any, Thinking | None]:
        """Let the bot move. Return its move, and its analysis or None.

        Raises IllegalMove for an illegal move, and InvalidMoveValue for a value that is not a move. Any exception raised by the
        bot propagates.
        """
        self._submit_move_to_referee(choose_move(self._bot, self.match, self._referee))
        return self.moves[-1], self._bot.thinking

    def undo(self) -> bool:
        """Take back the caller's last move and the bot's answer to it. Both clocks get back the time that these moves took.

        Return False if the caller has not moved.
        """
        game, position, own_plies = self.match.game, self.match.game.start(), []
        for ply, move in enumerate(self.moves):
            if game.player(position) is not self.match.seat:
                own_plies.append(ply)
            position = game.play(position, move)
        if not own_plies:
            return False
        self._restart_referee(self._referee.moves[: own_plies[-1]])
        return True

    def resign(self, player: Player) -> None:
        """End the match with the resignation of `player`."""
        self._referee.handle_event(PlayerResigned(player), MONOTONIC_CLOCK.now_ns())

    def end_and_close_bot(self) -> None:
        """Tell the bot the match's result, and close the bot. The result of an unfinished match is `ABANDONED_MATCH_RESULT`."""
        result = self.result or ABANDONED_MATCH_RESULT
        winner = Player(result.winner) if result.winner else None
        try:
            self._bot.ended(Ending(winner, result.reason, result.detail, self._referee.ply, self.position))
        finally:
            self._bot.close()

    def to_record(self) -> Record:
        """Return the record of the match. The result of an unfinished match is `ABANDONED_MATCH_RESULT`."""
        return self._terms.make_record(
            self._start_time, list(self._referee.moves), self.result or ABANDONED_MATCH_RESULT
        )

    def _submit_move_to_referee(self, move: MoveReceived) -> None:
        game = self.match.game
        # raises IllegalMove, with which the referee would end the match
        game.play(self.position, game.move_from_data(move.move))
        self._referee.handle_event(move, MONOTONIC_CLOCK.now_ns())
        self._referee.handle_event(TurnStarted(self._referee.ply), MONOTONIC_CLOCK.now_ns())

    def _restart_referee(self, moves: Sequence[RecordedMove]) -> None:
        """Start a new referee, and replay `moves` to it. Each move takes the time that was recorded for it."""
        referee = self._referee = Referee(self._terms)
        now_ns = 0
        referee.handle_event(MatchOpened(), now_ns)
        for player in Player:
            referee.handle_event(PlayerReady(player), now_ns)
        for move in moves:
            referee.handle_event(TurnStarted(referee.ply), now_ns)
            now_ns += round(move.ms * NS_PER_MS)
            referee.handle_event(MoveReceived(referee.mover, referee.ply, move.move, move.thinking), now_ns)
        referee.handle_event(TurnStarted(referee.ply), MONOTONIC_CLOCK.now_ns())
