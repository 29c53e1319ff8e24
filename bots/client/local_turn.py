"""Choice of one move by a bot in a match without a server."""

from __future__ import annotations

from threading import Event

from msgspec import UNSET

from arena.bots.api.bot import Bot, Match, request_move
from arena.bots.client.state.match_state import make_clock
from arena.bots.client.state.moves import make_move_message
from arena.clock import MONOTONIC_CLOCK
from arena.match.referee import Referee
from arena.match.referee_events import MoveReceived, TurnStarted


def choose_move(bot: Bot, match: Match, referee: Referee) -> MoveReceived:
    """Let `bot` choose a move while its clock runs. Return the move as a referee's event, which the caller passes to `referee`.

    match  match that was assigned to the bot; not read from `bot.match`, which the bot's code may have changed

    Raises InvalidMoveValue for a value that is not a move. Any exception raised by the bot propagates.
    """
    position, now_ns = referee.position, MONOTONIC_CLOCK.now_ns()
    referee.handle_event(TurnStarted(referee.ply), now_ns)
    clock = make_clock(
        match, referee.get_clocks(now_ns), match.time_control.increment_ms, MONOTONIC_CLOCK.now()
    )
    if referee.last_mover is match.seat.opponent:
        bot.opponent_moved(match.game.move_from_data(referee.moves[-1].move), position)
    move = request_move(bot, position, clock, Event())
    message, _ = make_move_message(match, referee.ply, position, move, bot.thinking)
    return MoveReceived(
        match.seat, referee.ply, message.move, None if message.thinking is UNSET else message.thinking
    )
