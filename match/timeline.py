"""A match told move by move from its journal: what each player had, took and was credited, and what went wrong.

Pure: the events are played through a referee again, which says the same as it said then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from arena.games.core import MAXIE, BadData, Player
from arena.match.clock import MS
from arena.match.events import (
    BrokeProtocol,
    DeadlineFell,
    Effect,
    Event,
    Finish,
    GotReady,
    Left,
    Moved,
    Opened,
    Resigned,
    Returned,
    ServerBack,
    ServerFailed,
    SessionLost,
    Tell,
    TurnLeft,
)
from arena.match.referee import SEATS, Referee
from arena.match.terms import Terms
from arena.protocol.messages import Accepted, Error
from arena.protocol.values import Data, Seat

SHOWN = 60
"""How many characters are shown of what a player sent in place of a move."""


class TimelineEntry(Struct, frozen=True):
    """One thing that happened. Times are in ms; None where it has none."""

    at: float
    """The time since the match was opened. The time that a server was away is not counted."""
    player: Seat | None
    what: str
    """What the server received, or noticed."""
    ply: int | None = None
    had: int | None = None
    """What was on the mover's clock as the turn left; the margin comes on top."""
    took: float | None = None
    """The time from the turn's leaving to the arrival."""
    credited: float | None = None
    """What was taken off for the network."""
    left: int | None = None
    """What was on the clock after the move, with the increment."""
    wrong: str = ""
    """Why the move or the message was refused; empty where it was not."""


def timeline(terms: Terms, events: Sequence[tuple[int, Event]]) -> tuple[list[TimelineEntry], Finish | None]:
    """What happened, in order, and how it ended: None while it is in progress."""
    referee = Referee(terms)
    return list(_entries(referee, events)), referee.result


def _entries(referee: Referee, events: Sequence[tuple[int, Event]]) -> Iterator[TimelineEntry]:
    start = events[0][0] if events else 0
    had: int | None = None
    turned: int | None = None
    last = start
    for at, event in events:
        if isinstance(event, ServerBack):
            start += at - last  # another run of the server has another clock
        last = at
        mover = referee.mover_now
        effects = referee.handle(event, at)
        if isinstance(event, TurnLeft):
            turned = at
            had = _on_clock(referee, at)
        elif isinstance(event, Moved):
            yield _moved(referee, event, effects, (at - start) / MS, had, turned, at)
        else:
            player = getattr(event, "player", None)
            seat = SEATS[player] if isinstance(player, Player) else None
            if isinstance(event, DeadlineFell) and mover is not None:
                seat = SEATS[mover]
            took = round((at - turned) / MS, 1) if isinstance(event, DeadlineFell) and turned else None
            yield TimelineEntry(
                at=round((at - start) / MS, 1),
                player=seat,
                what=_what(event),
                ply=referee.ply if took is not None else None,
                had=had if took is not None else None,
                took=took,
                wrong=_why(effects),
            )


def _on_clock(referee: Referee, at: int) -> int | None:
    mover = referee.mover_now
    if mover is None:
        return None
    clocks = referee.clocks(at)
    return clocks.maxie_ms if mover is MAXIE else clocks.minnie_ms


def _moved(
    referee: Referee,
    event: Moved,
    effects: Sequence[Effect],
    since: float,
    had: int | None,
    turned: int | None,
    at: int,
) -> TimelineEntry:
    receipt = next((each.message for each in _told(effects) if isinstance(each.message, Accepted)), None)
    return TimelineEntry(
        at=round(since, 1),
        player=SEATS[event.player],
        what=_move_text(referee, event.move),
        ply=event.ply,
        had=had,
        took=None if turned is None else round(max(0, at - turned) / MS, 1),
        credited=None if receipt is None else receipt.credited_ms,
        left=None if receipt is None else receipt.clock_ms,
        wrong="" if receipt is not None else _why(effects),
    )


def _told(effects: Sequence[Effect]) -> list[Tell]:
    return [each for each in effects if isinstance(each, Tell)]


def _why(effects: Sequence[Effect]) -> str:
    """Why something was refused or ended the match against somebody; empty where it did neither."""
    refused = [each.message for each in _told(effects) if isinstance(each.message, Error)]
    if refused:
        return f"{refused[0].code.value}: {refused[0].detail}"
    return next((each.detail for each in effects if isinstance(each, Finish)), "")


def _move_text(referee: Referee, data: Data) -> str:
    game = referee.terms.game
    try:
        return game.move_to_text(game.move_from_data(data))
    except BadData:
        text = repr(data)
        return f"{text[:SHOWN]}…" if len(text) > SHOWN else text


def _what(event: Event) -> str:
    match event:
        case Opened():
            return "start sent to both"
        case GotReady():
            return "ready"
        case Resigned(reason=reason):
            return "the bot crashed" if reason == "crash" else "resign"
        case Left():
            return "the connection was lost"
        case Returned():
            return "back with its session"
        case SessionLost():
            return "connected anew, without its session"
        case BrokeProtocol():
            return "what is no message"
        case DeadlineFell(late):
            held = f"; the server was held up for {late / MS:.0f} ms" if late else ""
            return f"nothing until the deadline{held}"
        case ServerBack():
            return "the server was away, and goes on"
        case ServerFailed():
            return "the server failed"
        case TurnLeft() | Moved():
            raise AssertionError("told elsewhere")
