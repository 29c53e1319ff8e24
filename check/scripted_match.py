"""Scripted match: the bot under test plays one player, and a script plays random moves for the other."""

from __future__ import annotations

import random
import uuid
from collections.abc import Sequence
from typing import Any

from arena.check.bot_connection import BotConnection, ProtocolFault, get_message_type_name
from arena.clock import MONOTONIC_CLOCK
from arena.games.core import AnyGame, BadData, IllegalMove, Player
from arena.match.referee import SEAT_BY_PLAYER
from arena.protocol.codes import EndReason
from arena.protocol.messages import Accepted, ClientMessage, End, Move, Ready, Resign, Start, Turn
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Clocks, PlainData, Players

REQUIRED_BOT_SILENCE_SECONDS = 0.15
"""Seconds for which a check waits to see that the bot sends nothing, because no message asks for an answer."""


class ScriptedMatch:
    """Match in which a check decides which messages the bot receives, and when.

    A method that waits for the bot raises ProtocolFault if the bot violates the protocol. A method with the arguments
    `**extra_fields` adds these fields to the messages that it sends; the bot must ignore such fields.
    """

    def __init__(
        self,
        bot_connection: BotConnection,
        game: AnyGame,
        seat: Player,
        time_control: TimeControl,
        network_margin_ms: int,
    ) -> None:
        self.bot_connection = bot_connection
        self.game = game
        self.bot_seat = seat
        """Player (Maxie or Minnie) whose moves the bot makes."""
        self.time_control = time_control
        self.network_margin_ms = network_margin_ms
        self.match_id = uuid.uuid4().hex
        self.moves: list[PlainData] = []
        """Moves of both players so far, as plain data in the form of the protocol."""
        self.position: Any = game.start()
        self._random = random.Random(1)
        self._turn_sent_at = 0.0
        """Time at which the last turn was sent, in monotonic seconds."""
        self._early_message: tuple[ClientMessage, float] | None = None
        """Move that the bot sent after a reconnection, before its `ready`, and arrival time of the move in monotonic seconds.

        None if there is no such move.
        """

    @property
    def is_over(self) -> bool:
        return self.game.outcome(self.position) is not None

    @property
    def is_bots_turn(self) -> bool:
        return self.game.player(self.position) is self.bot_seat

    @property
    def start_message(self) -> Start:
        """Return the `start` message with which the server begins the match."""
        players = (
            Players("checked", "script") if self.bot_seat is Player.MAXIE else Players("script", "checked")
        )
        ready_ms = int(1000 * self.bot_connection.patience_seconds)
        return Start(
            self.match_id,
            self.game.name,
            self.game.setup(),
            SEAT_BY_PLAYER[self.bot_seat],
            players,
            self.time_control,
            self.network_margin_ms,
            ready_ms,
        )

    async def begin_match(self, **extra_fields: object) -> None:
        """Send `start`, with `extra_fields` added, and wait until the bot has answered `ready`."""
        await self.bot_connection.send_message(self.start_message, **extra_fields)
        await self.wait_for_bot_ready()

    async def wait_for_bot_ready(self) -> None:
        """Wait for the bot's `ready` message.

        After a reconnection, a move that the bot chose while disconnected may come first. Such a move is kept for
        `receive_bot_move`.
        """
        while True:
            message, received_at = await self.bot_connection.receive_message("ready")
            if isinstance(message, Move) and message.match == self.match_id:
                if message.ply == len(self.moves) > 0:
                    self._early_message = message, received_at
                    continue
                if self._is_repeated_message(message):
                    continue
            break
        if not isinstance(message, Ready) or message.match != self.match_id:
            answer = (
                "`ready` for another match" if isinstance(message, Ready) else get_message_type_name(message)
            )
            raise ProtocolFault(f"the bot must answer `start` with `ready` for the same match, not {answer}")

    async def send_turn_message(self, **extra_fields: object) -> None:
        """Send the `turn` message for the next ply, with `extra_fields` added, and start the bot's clock."""
        self._turn_sent_at = MONOTONIC_CLOCK.now()
        await self.bot_connection.send_message(self.make_turn_message(len(self.moves)), **extra_fields)

    def make_turn_message(self, ply: int) -> Turn:
        """Return the `turn` message that asks for the move at `ply`, which may already have been played."""
        clocks = Clocks(self.time_control.base_ms, self.time_control.base_ms)
        return Turn(self.match_id, ply, self.moves[:ply], clocks, self.time_control.increment_ms)

    async def receive_bot_move(self, **extra_fields: object) -> None:
        """Receive the bot's move, and send the `accepted` message, with `extra_fields` added.

        Raises ProtocolFault if the move is late or illegal, or if the bot sends another message instead.
        """
        allowed_seconds = (self.time_control.base_ms + self.network_margin_ms) / 1000
        while True:
            if self._early_message is not None:
                (message, received_at), self._early_message = self._early_message, None
            else:
                message, received_at = await self.bot_connection.receive_message(
                    "move", allowed_seconds + self.bot_connection.patience_seconds
                )
            if not self._is_repeated_message(message):
                break
        if isinstance(message, Resign):
            raise ProtocolFault(
                f"the bot must move at ply {len(self.moves)} of {self.game.name} as {self.bot_seat}, not resign"
            )
        if not isinstance(message, Move):
            raise ProtocolFault(
                f"the bot must answer the turn with a move, not {get_message_type_name(message)}"
            )
        if message.match != self.match_id:
            raise ProtocolFault(f"the move must be for match {self.match_id}, not {message.match!r:.70}")
        self._reject_second_move(message)
        if message.ply != len(self.moves):
            raise ProtocolFault(f"the move must be for ply {len(self.moves)}, not {message.ply}")
        seconds_used = max(0.0, received_at - self._turn_sent_at)
        if seconds_used > allowed_seconds:
            raise ProtocolFault(
                f"the move at ply {message.ply} took {1000 * seconds_used:.0f} ms; the limit was {1000 * allowed_seconds:.0f} ms"
                f" ({self.time_control.base_ms} ms plus a margin of {self.network_margin_ms} ms)"
            )
        self.apply_move(message.move)
        accepted = Accepted(
            self.match_id, message.ply, round(1000 * seconds_used, 3), self.time_control.base_ms
        )
        await self.bot_connection.send_message(accepted, **extra_fields)

    def apply_move(self, move: PlainData) -> None:
        """Apply a move, given as plain data, to the position. Raises ProtocolFault if the move is illegal."""
        try:
            self.position = self.game.play(self.position, self.game.move_from_data(move))
        except (IllegalMove, BadData) as error:
            raise ProtocolFault(f"the move at ply {len(self.moves)} is invalid: {error}") from None
        self.moves.append(move)

    def replay_moves(self, moves: Sequence[PlainData]) -> None:
        """Start the match anew, and play `moves`, the moves of both players. Raises ProtocolFault if a move is illegal."""
        self.position, self.moves = self.game.start(), []
        for move in moves:
            self.apply_move(move)

    def continue_on_connection(self, bot_connection: BotConnection) -> None:
        """Continue the match on `bot_connection`, the bot's new connection after its earlier connection was lost."""
        self.bot_connection = bot_connection

    def apply_random_move(self) -> None:
        """Apply a random legal move of the player to move, even if the bot is that player. No message is sent."""
        move = self._random.choice(self.game.moves(self.position))
        self.position = self.game.successor(self.position, move)
        self.moves.append(self.game.move_to_data(move))

    async def play_move_pair(self, **extra_fields: object) -> None:
        """If the opponent is to move, play a random move for the opponent. Then let the bot play one move.

        If the opponent's move ends the match, the bot plays none.

        `extra_fields` are added to the messages `turn` and `accepted`.
        """
        if not self.is_bots_turn:
            self.apply_random_move()
        if not self.is_over:
            await self.send_turn_message(**extra_fields)
            await self.receive_bot_move(**extra_fields)

    async def play_moves_and_end(self, max_moves: int) -> None:
        """Let the bot play at most `max_moves` moves, then send `end`."""
        for _ in range(max_moves):
            if self.is_over:
                break
            await self.play_move_pair()
        await self.send_end_message()

    async def send_end_message(self, **extra_fields: object) -> None:
        """Send the `end` message with the match's result, and `extra_fields` added.

        If the match is not over, the result is a win for the bot by the opponent's resignation.
        """
        outcome = self.game.outcome(self.position)
        winner = self.bot_seat if outcome is None else outcome.winner
        reason = EndReason.RESIGNATION if outcome is None else EndReason(outcome.reason_code)
        clocks = Clocks(self.time_control.base_ms, self.time_control.base_ms)
        seat = None if winner is None else SEAT_BY_PLAYER[winner]
        await self.bot_connection.send_message(
            End(self.match_id, seat, reason, reason.meaning, self.moves, clocks), **extra_fields
        )

    async def require_bot_silence(self) -> None:
        """Wait for REQUIRED_BOT_SILENCE_SECONDS. Raises ProtocolFault if the bot sends anything but a repeated message."""
        deadline = MONOTONIC_CLOCK.now() + REQUIRED_BOT_SILENCE_SECONDS
        while (seconds_left := deadline - MONOTONIC_CLOCK.now()) > 0:
            message = await self.bot_connection.receive_message_within("silence", seconds_left)
            if message is not None and not self._is_repeated_message(message[0]):
                self._reject_second_move(message[0])
                raise ProtocolFault(
                    f"the bot must not send `{get_message_type_name(message[0])}` now: no message asks for it"
                )

    def _reject_second_move(self, message: object) -> None:
        """Raise ProtocolFault if the message is a move for a ply that has already been played.

        Call this method only if `_is_repeated_message` is False for the message, so that such a move differs from the move
        that was played.
        """
        if isinstance(message, Move) and message.match == self.match_id and message.ply < len(self.moves):
            earlier_move = self.moves[message.ply]
            raise ProtocolFault(
                f"the bot sent {message.move!r:.60} for ply {message.ply}, which was already played with {earlier_move!r}: "
                "it may send only the same move again"
            )

    def _is_repeated_message(self, message: object) -> bool:
        """Return True if the message is `ready` for this match, or a move that the bot has already made.

        The bot may repeat these two messages at any time.
        """
        if isinstance(message, Ready):
            return message.match == self.match_id
        if not isinstance(message, Move) or message.match != self.match_id or message.ply >= len(self.moves):
            return False
        return bool(self.moves[message.ply] == message.move)
