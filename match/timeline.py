"""Timeline of a match from its journal: the time that each player had, used and was credited, and all faults.

Pure: the events are replayed through a referee, which gives the same answers as in the match.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from arena.games.core import MAXIE, BadData, Player
from arena.match.clock import MS
from arena.match.events import (
    DeadlinePassed,
    Effect,
    Event,
    Finish,
    MatchOpened,
    Moved,
    Notify,
    PlayerDisconnected,
    PlayerReady,
    PlayerReconnected,
    ProtocolViolated,
    Resigned,
    ServerFailed,
    ServerRecovered,
    SessionLost,
    TurnStarted,
)
from arena.match.referee import SEATS, Referee
from arena.match.terms import Terms
from arena.protocol.messages import Accepted, Error
from arena.protocol.values import Data, Seat

MAX_EXCERPT = 60
"""Maximum number of characters shown of an invalid move."""


class TimelineEntry(Struct, frozen=True):
    """One event of a match. Times are in ms; None if not applicable."""

    at: float
    """Time since the match was opened. Time during which the server was down is not counted."""
    player: Seat | None
    what: str
    """Event that the server received or noticed."""
    ply: int | None = None
    had: int | None = None
    """Time on the mover's clock when the turn was sent, without the margin."""
    took: float | None = None
    """Time from sending the turn to the arrival of the move."""
    credited: float | None = None
    """Time credited for the network (lag credit)."""
    left: int | None = None
    """Time on the clock after the move, with the increment."""
    wrong: str = ""
    """Reason for refusing the move or message; empty if it was accepted."""


def timeline(terms: Terms, events: Sequence[tuple[int, Event]]) -> tuple[list[TimelineEntry], Finish | None]:
    """Return the events in order, and the result; the result is None while the match is in progress."""
    referee = Referee(terms)
    return list(_entries(referee, events)), referee.result


def _entries(referee: Referee, events: Sequence[tuple[int, Event]]) -> Iterator[TimelineEntry]:
    start = events[0][0] if events else 0
    had: int | None = None
    turned: int | None = None
    last = start
    for at, event in events:
        if isinstance(event, ServerRecovered):
            start += at - last  # a new run of the server has a new clock
        last = at
        mover = referee.mover_now
        effects = referee.handle(event, at)
        if isinstance(event, TurnStarted):
            turned = at
            had = _on_clock(referee, at)
        elif isinstance(event, Moved):
            yield _move_entry(referee, event, effects, (at - start) / MS, had, turned, at)
        else:
            player = getattr(event, "player", None)
            seat = SEATS[player] if isinstance(player, Player) else None
            if isinstance(event, DeadlinePassed) and mover is not None:
                seat = SEATS[mover]
            took = round((at - turned) / MS, 1) if isinstance(event, DeadlinePassed) and turned else None
            yield TimelineEntry(
                at=round((at - start) / MS, 1),
                player=seat,
                what=_description(event),
                ply=referee.ply if took is not None else None,
                had=had if took is not None else None,
                took=took,
                wrong=_reason(effects),
            )


def _on_clock(referee: Referee, at: int) -> int | None:
    mover = referee.mover_now
    if mover is None:
        return None
    clocks = referee.clocks(at)
    return clocks.maxie_ms if mover is MAXIE else clocks.minnie_ms


def _move_entry(
    referee: Referee,
    event: Moved,
    effects: Sequence[Effect],
    since: float,
    had: int | None,
    turned: int | None,
    at: int,
) -> TimelineEntry:
    receipt = next(
        (each.message for each in _notifications(effects) if isinstance(each.message, Accepted)), None
    )
    return TimelineEntry(
        at=round(since, 1),
        player=SEATS[event.player],
        what=_move_text(referee, event.move),
        ply=event.ply,
        had=had,
        took=None if turned is None else round(max(0, at - turned) / MS, 1),
        credited=None if receipt is None else receipt.credited_ms,
        left=None if receipt is None else receipt.clock_ms,
        wrong="" if receipt is not None else _reason(effects),
    )


def _notifications(effects: Sequence[Effect]) -> list[Notify]:
    return [each for each in effects if isinstance(each, Notify)]


def _reason(effects: Sequence[Effect]) -> str:
    """Return why an event was refused or ended the match against a player; empty if neither."""
    refused = [each.message for each in _notifications(effects) if isinstance(each.message, Error)]
    if refused:
        return f"{refused[0].code.value}: {refused[0].detail}"
    return next((each.detail for each in effects if isinstance(each, Finish)), "")


def _move_text(referee: Referee, data: Data) -> str:
    game = referee.terms.game
    try:
        return game.move_to_text(game.move_from_data(data))
    except BadData:
        text = repr(data)
        return f"{text[:MAX_EXCERPT]}…" if len(text) > MAX_EXCERPT else text


def _description(event: Event) -> str:
    match event:
        case MatchOpened():
            return "start sent to both"
        case PlayerReady():
            return "ready"
        case Resigned(reason=reason):
            return "the bot crashed" if reason == "crash" else "resign"
        case PlayerDisconnected():
            return "the connection was lost"
        case PlayerReconnected():
            return "back with its session"
        case SessionLost(proved=proved):
            return f"reconnected without its session{', but with its token' if proved else ''}"
        case ProtocolViolated():
            return "an invalid message"
        case DeadlinePassed(late):
            delay = f"; the server was held up for {late / MS:.0f} ms" if late else ""
            return f"nothing until the deadline{delay}"
        case ServerRecovered():
            return "the server was away, and continues"
        case ServerFailed():
            return "the server failed"
        case TurnStarted() | Moved():
            raise AssertionError("these events are handled before")
