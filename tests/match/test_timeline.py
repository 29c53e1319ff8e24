from __future__ import annotations

from arena.games.core import Player
from arena.match.clock import NS_PER_MS
from arena.match.referee_events import (
    DeadlinePassed,
    MatchOpened,
    MoveReceived,
    PlayerDisconnected,
    PlayerReady,
    PlayerReconnected,
    PlayerResigned,
    ProtocolViolated,
    RefereeEvent,
    ServerRecovered,
    TurnStarted,
)
from arena.match.timeline import TimelineEntry, build_timeline
from arena.protocol.codes import EndReason
from tests.server.matches import terms

BEGIN: list[tuple[int, RefereeEvent]] = [
    (7_000 * NS_PER_MS, MatchOpened()),
    (7_010 * NS_PER_MS, PlayerReady(Player.MAXIE)),
    (7_020 * NS_PER_MS, PlayerReady(Player.MINNIE)),
]


def run_timeline(*then: tuple[int, RefereeEvent]) -> tuple[list[TimelineEntry], str, EndReason | None]:
    """Return the entries after both players were ready, and the result."""
    steps, result = build_timeline(
        terms("1+0.1"), [*BEGIN, *((7_000 * NS_PER_MS + at * NS_PER_MS, event) for at, event in then)]
    )
    assert [(step.time_ms, step.player, step.description) for step in steps[:3]] == [
        (0, None, "start sent to both"),
        (10, "maxie", "ready"),
        (20, "minnie", "ready"),
    ]
    return steps[3:], result.detail if result else "", result.reason if result else None


def test_a_move_has_its_times_and_its_credit() -> None:
    steps, _, reason = run_timeline(
        (30, TurnStarted(0, 15 * NS_PER_MS)),
        (130, MoveReceived(Player.MAXIE, 0, 4)),
        (140, TurnStarted(1)),
        (440, MoveReceived(Player.MINNIE, 1, 0)),
    )
    maxie, minnie = steps
    assert maxie == TimelineEntry(
        130,
        "maxie",
        "b2",
        0,
        clock_before_ms=1000,
        response_time_ms=100,
        credited_lag_ms=15,
        clock_after_ms=1015,
    )
    assert minnie == TimelineEntry(
        440,
        "minnie",
        "a1",
        1,
        clock_before_ms=1000,
        response_time_ms=300,
        credited_lag_ms=0,
        clock_after_ms=800,
    )
    assert reason is None


def test_an_illegal_move_is_shown_with_the_legal_ones() -> None:
    steps, detail, reason = run_timeline(
        (30, TurnStarted(0)),
        (40, MoveReceived(Player.MAXIE, 0, 4)),
        (50, TurnStarted(1)),
        (60, MoveReceived(Player.MINNIE, 1, 4)),
    )
    assert steps[-1].description == "b2"
    assert steps[-1].refusal_reason.startswith("illegal_move: illegal move b2: ")
    assert "legal: a1, " in steps[-1].refusal_reason
    assert reason is EndReason.ILLEGAL_MOVE
    assert "b2" in detail


def test_a_move_that_is_none_is_shown_as_it_came_and_bounded() -> None:
    steps, _, _ = run_timeline((30, TurnStarted(0)), (40, MoveReceived(Player.MAXIE, 0, "x" * 1000)))
    assert steps[0].description.startswith("'xxx")
    assert len(steps[0].description) < 70
    assert steps[0].refusal_reason.startswith("illegal_move: no move of tictactoe")


def test_a_flag_says_by_how_much_it_fell() -> None:
    (late,), _, reason = run_timeline((30, TurnStarted(0)), (1_090, MoveReceived(Player.MAXIE, 0, 4)))
    assert (late.clock_before_ms, late.response_time_ms, late.clock_after_ms) == (1000, 1060, None)
    assert "the move came 10.0 ms after the flag fell" in late.refusal_reason
    assert reason is EndReason.TIMEOUT


def test_a_deadline_that_fell_is_the_movers() -> None:
    (fell,), detail, reason = run_timeline((30, TurnStarted(0)), (1_080, DeadlinePassed()))
    assert (fell.player, fell.clock_before_ms, fell.response_time_ms, fell.ply) == ("maxie", 1000, 1050, 0)
    assert fell.description == "nothing until the deadline"
    assert fell.refusal_reason == detail
    assert reason is EndReason.TIMEOUT


def test_a_refusal_says_why_and_the_match_continues() -> None:
    steps, _, reason = run_timeline(
        (30, TurnStarted(0)), (40, MoveReceived(Player.MINNIE, 1, 3)), (50, MoveReceived(Player.MAXIE, 0, 4))
    )
    assert steps[0].refusal_reason.startswith("out_of_turn: ")
    assert steps[1].refusal_reason == ""
    assert reason is None


def test_the_clock_of_a_turn_that_is_sent_again_continues() -> None:
    (_, _, late), _, reason = run_timeline(
        (30, TurnStarted(0)),
        (900, PlayerDisconnected(Player.MAXIE)),
        (930, PlayerReconnected(Player.MAXIE)),
        (1_400, TurnStarted(0, clock_ran_ns=900 * NS_PER_MS)),
        (1_500, MoveReceived(Player.MAXIE, 0, 4)),
    )
    assert (late.response_time_ms, late.refusal_reason, reason) == (1_000, "", None)


def test_coming_going_and_a_server_that_was_away() -> None:
    steps, _, _ = run_timeline(
        (30, TurnStarted(0)),
        (40, PlayerDisconnected(Player.MAXIE)),
        (50, PlayerReconnected(Player.MAXIE)),
        (-6_000, ServerRecovered()),
        (-5_990, PlayerReconnected(Player.MINNIE)),
        (-5_980, PlayerReconnected(Player.MAXIE)),
        (-5_970, TurnStarted(0)),
        (-5_960, MoveReceived(Player.MAXIE, 0, 4)),
        (-5_950, PlayerResigned(Player.MINNIE)),
    )
    assert [step.description for step in steps] == [
        "the connection was lost",
        "back with its session",
        "the server was away, and continues",
        "back with its session",
        "back with its session",
        "b2",
        "resign",
    ]
    assert [step.time_ms for step in steps] == [40, 50, 50, 60, 70, 90, 100]
    assert steps[5].response_time_ms == 10
    assert "resigned" in steps[6].refusal_reason


def test_a_broken_frame_is_shown_with_its_bytes() -> None:
    (broke,), _, reason = run_timeline(
        (30, ProtocolViolated(Player.MAXIE, "not msgpack; its 3 bytes begin c1 00 ff"))
    )
    assert broke.description == "an invalid message"
    assert "c1 00 ff" in broke.refusal_reason
    assert reason is EndReason.PROTOCOL_ERROR
