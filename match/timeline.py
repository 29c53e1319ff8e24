"""Timeline of a match from its journal: the time that each player had, used, and got back for network lag, and all faults.

Pure: it reads no clock and does no I/O. A referee handles the events of the journal again, at their stored times, and returns
the same effects as during the match.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from arena.games.core import MAXIE, BadData, Player
from arena.match.clock import NS_PER_MS
from arena.match.referee import SEAT_BY_PLAYER, Referee
from arena.match.referee_events import (
    DeadlinePassed,
    MatchOpened,
    MatchResult,
    MoveReceived,
    NotifyPlayer,
    PlayerDisconnected,
    PlayerReady,
    PlayerReconnected,
    PlayerResigned,
    ProtocolViolated,
    RefereeEffect,
    RefereeEvent,
    ServerFailed,
    ServerRecovered,
    SessionLost,
    TimedEvent,
    TurnStarted,
)
from arena.match.terms import MatchTerms
from arena.protocol.messages import Accepted, Error
from arena.protocol.values import PlainData, Seat

MAX_MOVE_EXCERPT_LENGTH = 60
"""Maximum number of characters of an invalid move that a timeline entry shows."""


class TimelineEntry(Struct, frozen=True):
    """One event of a match, such as a move. Times are in ms; a field is None if it does not apply to the event."""

    time_ms: float = field(name="at")
    """Time since the match was opened, in ms, without the time during which the server was down."""
    player: Seat | None
    """Player whom the event concerns; None if it concerns no single player."""
    description: str = field(name="what")
    """Description of the event: the move as text, or a few words."""
    ply: int | None = None
    clock_before_ms: int | None = field(name="had", default=None)
    """Time on the mover's clock when `turn`, the request for the move, was sent, in ms, without the margin for the network."""
    response_time_ms: float | None = field(name="took", default=None)
    """Time from sending `turn`, the request for the move, to the move's arrival, in ms."""
    credited_lag_ms: float | None = field(name="credited", default=None)
    """Network delay that is not charged to the mover's clock (lag credit), in ms."""
    clock_after_ms: int | None = field(name="left", default=None)
    """Time on the mover's clock after the move, in ms, increment included; None if this event is not an accepted move."""
    refusal_reason: str = field(name="wrong", default="")
    """Reason why the event was refused or ended the match; empty if neither."""


def build_timeline(
    terms: MatchTerms, events: Sequence[TimedEvent]
) -> tuple[list[TimelineEntry], MatchResult | None]:
    """Return the timeline of a match, in order, and its result; the result is None while the match is in progress.

    events: events of the match from its journal, each with its time (monotonic ns)
    """
    referee = Referee(terms)
    return list(_make_timeline_entries(referee, events)), referee.result


def _make_timeline_entries(referee: Referee, events: Sequence[TimedEvent]) -> Iterator[TimelineEntry]:
    start_ns = events[0][0] if events else 0
    clock_before_ms: int | None = None
    turn_sent_ns: int | None = None
    last_ns = start_ns
    for time_ns, event in events:
        if isinstance(event, ServerRecovered):
            start_ns += time_ns - last_ns  # a new run of the server has a new clock
        last_ns = time_ns
        mover = referee.mover_if_playing
        effects = referee.handle_event(event, time_ns)
        event_time_ms = round((time_ns - start_ns) / NS_PER_MS, 1)
        response_time_ms = (
            None if turn_sent_ns is None else round(max(0, time_ns - turn_sent_ns) / NS_PER_MS, 1)
        )
        if isinstance(event, TurnStarted):
            turn_sent_ns = time_ns - event.clock_ran_ns
            clock_before_ms = _get_mover_clock_ms(referee, turn_sent_ns)
        elif isinstance(event, MoveReceived):
            yield _make_move_entry(referee, event, effects, event_time_ms, clock_before_ms, response_time_ms)
        elif isinstance(event, DeadlinePassed):
            yield TimelineEntry(
                time_ms=event_time_ms,
                player=None if mover is None else SEAT_BY_PLAYER[mover],
                description=_describe_event(event),
                ply=None if response_time_ms is None else referee.ply,
                clock_before_ms=clock_before_ms,
                response_time_ms=response_time_ms,
                refusal_reason=_describe_refusal(effects),
            )
        else:
            player = getattr(event, "player", None)
            seat = SEAT_BY_PLAYER[player] if isinstance(player, Player) else None
            yield TimelineEntry(
                event_time_ms, seat, _describe_event(event), refusal_reason=_describe_refusal(effects)
            )


def _get_mover_clock_ms(referee: Referee, time_ns: int) -> int | None:
    mover = referee.mover_if_playing
    if mover is None:
        return None
    clocks = referee.get_clocks(time_ns)
    return clocks.maxie_ms if mover is MAXIE else clocks.minnie_ms


def _make_move_entry(
    referee: Referee,
    event: MoveReceived,
    effects: Sequence[RefereeEffect],
    event_time_ms: float,
    clock_before_ms: int | None,
    response_time_ms: float | None,
) -> TimelineEntry:
    accepted_message = next(
        (
            notification.message
            for notification in _list_notifications(effects)
            if isinstance(notification.message, Accepted)
        ),
        None,
    )
    return TimelineEntry(
        time_ms=event_time_ms,
        player=SEAT_BY_PLAYER[event.player],
        description=_format_move(referee, event.move),
        ply=event.ply,
        clock_before_ms=clock_before_ms,
        response_time_ms=response_time_ms,
        credited_lag_ms=None if accepted_message is None else accepted_message.credited_ms,
        clock_after_ms=None if accepted_message is None else accepted_message.clock_ms,
        refusal_reason="" if accepted_message is not None else _describe_refusal(effects),
    )


def _list_notifications(effects: Sequence[RefereeEffect]) -> list[NotifyPlayer]:
    return [effect for effect in effects if isinstance(effect, NotifyPlayer)]


def _describe_refusal(effects: Sequence[RefereeEffect]) -> str:
    """Return the reason why an event was refused or ended the match; empty if neither."""
    errors = [
        notification.message
        for notification in _list_notifications(effects)
        if isinstance(notification.message, Error)
    ]
    if errors:
        return f"{errors[0].code.value}: {errors[0].detail}"
    return next((effect.detail for effect in effects if isinstance(effect, MatchResult)), "")


def _format_move(referee: Referee, move: PlainData) -> str:
    """Return a received move as text; an excerpt of its data if it is not a move of the game."""
    game = referee.terms.game
    try:
        return game.move_to_text(game.move_from_data(move))
    except BadData:
        data_text = repr(move)
        return (
            f"{data_text[:MAX_MOVE_EXCERPT_LENGTH]}…"
            if len(data_text) > MAX_MOVE_EXCERPT_LENGTH
            else data_text
        )


def _describe_event(event: RefereeEvent) -> str:
    match event:
        case MatchOpened():
            return "start sent to both"
        case PlayerReady():
            return "ready"
        case PlayerResigned(reason=reason):
            return "the bot crashed" if reason == "crash" else "resign"
        case PlayerDisconnected():
            return "the connection was lost"
        case PlayerReconnected():
            return "back with its session"
        case SessionLost(is_authenticated=is_authenticated):
            return f"reconnected without its session{', but with its token' if is_authenticated else ''}"
        case ProtocolViolated():
            return "an invalid message"
        case DeadlinePassed(server_stall_ns):
            stall_text = (
                f"; the server stalled for {server_stall_ns / NS_PER_MS:.0f} ms" if server_stall_ns else ""
            )
            return f"nothing until the deadline{stall_text}"
        case ServerRecovered():
            return "the server was away, and continues"
        case ServerFailed():
            return "the server failed"
        case TurnStarted() | MoveReceived():
            raise AssertionError("TurnStarted and MoveReceived must be handled by the caller")
