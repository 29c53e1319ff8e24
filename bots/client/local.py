"""A match in this process, without a server: whoever calls plays one seat, a bot the other.

The bot gets a clock that runs as its time control says, but nobody's flag falls: this is for trying
a bot and for playing against one, not for results.
"""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime
from threading import Event
from typing import Any

from msgspec import UNSET

from arena.bots.api.bot import ask, begin
from arena.bots.api.clock import Clock
from arena.bots.api.match import Ending, Match
from arena.bots.api.thinking import Thinking
from arena.bots.client.state.moves import move_message
from arena.bots.client.worker import BotFactory
from arena.games.catalogue import KNOWN
from arena.games.core import Player
from arena.match.adjudication import adjudicate
from arena.match.recurrence import Recurrence
from arena.protocol import values
from arena.protocol.adjudication import Adjudication
from arena.protocol.codes import EndReason
from arena.protocol.engines import EngineInfo, Engines
from arena.protocol.record import FORMAT, Record, RecordedMove, Result
from arena.protocol.values import Players, Seat
from arena.solved.solution import solution_of

LEFT = Result(None, EndReason.SERVER_FAULT, "the match was left before its end")
"""The result of a match that somebody left."""


class Local:
    """One match between the caller and a bot; `match.seat` is the bot's."""

    def __init__(
        self,
        make: BotFactory,
        match: Match,
        engine: EngineInfo | None = None,
        adjudication: Adjudication | None = None,
    ) -> None:
        """Makes the bot and has it prepare; raises what the bot raises.

        engine         what the record tells of the bot
        adjudication   the rules by which the match may end before its game does; None: by none
        """
        self.match = match
        self._engine = engine
        self._adjudication = adjudication
        self._solution = solution_of(match.game) if adjudication is not None and adjudication.table else None
        self.moves: list[Any] = []
        self._positions = [match.game.start()]
        self._told: list[RecordedMove] = []
        self._left = match.time_control.base_ms / 1000
        self._started = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._since = time.monotonic()
        self.result: Result | None = None
        """How the match has ended; None while it is going on."""
        self._bot = make()
        begin(self._bot, match)
        self._bot.prepare()

    @property
    def position(self) -> Any:
        """The position to be played in."""
        return self._positions[-1]

    def play(self, move: Any) -> None:
        """Play the caller's move. Raises IllegalMove."""
        self._push(move, None, time.monotonic() - self._since)

    def answer(self) -> tuple[Any, Thinking | None]:
        """Have the bot play, and return its move and what it tells of it.

        Raises what the bot raises, IllegalMove for a move that is not allowed, and BadChoice.
        """
        control = self.match.time_control
        if self.moves:
            self._bot.opponent_moved(self.moves[-1], self.position)
        clock = Clock(
            mine=self._left,
            theirs=control.base_ms / 1000,
            increment=control.increment_ms / 1000,
            per_move=control.per_move,
            margin=self.match.margin_ms / 1000,
            arrived=time.monotonic(),
        )
        move = ask(self._bot, self.position, clock, Event())
        took = time.monotonic() - clock.arrived
        thinking = self._bot.thinking
        message, _ = move_message(self.match, len(self.moves), self.position, move, thinking)
        self._push(move, None if message.thinking is UNSET else message.thinking, took)
        if not control.per_move:
            self._left = max(0.0, self._left - took) + clock.increment
        return move, thinking

    def undo(self) -> bool:
        """Take back the caller's last move, and the bot's answer to it. False when there is none."""
        game = self.match.game
        before = [
            n for n, each in enumerate(self._positions[:-1]) if game.player(each) is not self.match.seat
        ]
        if not before:
            return False
        del self.moves[before[-1] :], self._told[before[-1] :], self._positions[before[-1] + 1 :]
        self.result = None
        return True

    def resign(self, player: Player) -> None:
        """A player gives up."""
        self.result = Result(_seat(player.opponent), EndReason.RESIGNATION, f"{player} resigned")

    def close(self) -> None:
        """Tell the bot of the end."""
        result = self.result or LEFT
        winner = Player(result.winner) if result.winner else None
        try:
            self._bot.ended(Ending(winner, result.reason, result.detail, len(self.moves), self.position))
        finally:
            self._bot.close()

    def record(self) -> Record:
        """The match as a record."""
        return Record(
            format=FORMAT,
            match=uuid.uuid4().hex,
            event="play",
            game=self.match.game.name,
            setup=self.match.game.setup(),
            players=Players(self.match.maxie, self.match.minnie),
            time_control=str(self.match.time_control),
            started=self._started,
            moves=list(self._told),
            result=self.result or LEFT,
            adjudication=self._adjudication,
            engines=self._engines(),
            rules=KNOWN.rules(self.match.game),
        )

    def _engines(self) -> Engines | None:
        if self._engine is None:
            return None
        return (
            Engines(maxie=self._engine) if self.match.seat is Player.MAXIE else Engines(minnie=self._engine)
        )

    def _push(self, move: Any, thinking: values.Thinking | None, seconds: float) -> None:
        game = self.match.game
        self._positions.append(game.play(self.position, move))
        self.moves.append(move)
        self._told.append(RecordedMove(game.move_to_data(move), round(seconds * 1000, 3), thinking))
        self._since = time.monotonic()
        self.result = self._judge()

    def _judge(self) -> Result | None:
        """How the match ends at this position, if it does."""
        game = self.match.game
        outcome = game.outcome(self.position)
        if outcome is not None:
            reason = EndReason.of(outcome.word)
            return Result(_seat(outcome.winner), reason, reason.meaning)
        # Moves may have been taken back, so that the positions are counted anew.
        times = Recurrence(game, self._positions).latest
        verdict = adjudicate(self._adjudication, game, self.position, self._told, times, self._solution)
        if verdict is None:
            return None
        return Result(_seat(verdict.winner), EndReason.ADJUDICATED, verdict.detail)


def _seat(player: Player | None) -> Seat | None:
    return None if player is None else "maxie" if player is Player.MAXIE else "minnie"
