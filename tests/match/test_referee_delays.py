"""The referee and delays that are no player's fault: network lag, stalls of the server, and a restart."""

from __future__ import annotations

import pytest

from arena.match.clock import NS_PER_MS
from arena.match.lag import LAG_BUDGET_REFILL_PER_MOVE_NS
from arena.match.referee import MAX_IGNORED_SERVER_STALL_NS, Referee
from arena.match.referee_events import (
    DeadlinePassed,
    MatchOpened,
    MoveReceived,
    PlayerDisconnected,
    PlayerReady,
    PlayerReconnected,
    ServerRecovered,
    TurnStarted,
)
from arena.protocol.codes import EndReason
from arena.protocol.messages import Accepted, Start, Turn
from tests.match.refereed import BEGINNING, MAXIE, MINNIE, messages_to, play, started_referee
from tests.server.matches import terms


def test_the_lag_of_the_turn_is_credited_and_sent() -> None:
    referee = Referee(terms(tc="1+0", margin=0))
    for event in (*BEGINNING, TurnStarted(0, lag_ns=80 * NS_PER_MS)):
        referee.handle_event(event, 0)
    assert referee.next_deadline_ns == 1080 * NS_PER_MS, "the flag falls that much later"
    (accepted,) = messages_to(
        referee.handle_event(MoveReceived(MAXIE, 0, 4), 300 * NS_PER_MS), MAXIE, Accepted
    )
    assert (accepted.spent_ms, accepted.credited_ms, accepted.clock_ms) == (220, 80, 780)
    assert referee.moves[0].credited_ms == 80


def test_a_far_connection_empties_its_budget_and_then_gets_the_refill_of_each_move() -> None:
    referee = Referee(terms(tc="100+0", game="riskless"))
    for event in BEGINNING:
        referee.handle_event(event, 0)
    now = 0
    credits: list[float] = []
    while len(credits) < 8:
        mover = referee.mover
        referee.handle_event(TurnStarted(referee.ply, lag_ns=300 * NS_PER_MS if mover is MAXIE else 0), now)
        now += 400 * NS_PER_MS
        move = referee.terms.game.move_to_data(referee.terms.game.moves(referee.position)[0])
        (accepted,) = messages_to(
            referee.handle_event(MoveReceived(mover, referee.ply, move), now), mover, Accepted
        )
        if mover is MAXIE:
            credits.append(accepted.credited_ms)
        else:
            assert accepted.credited_ms == 0
    assert credits[:2] == [300, 300]
    assert set(credits[2:]) == {LAG_BUDGET_REFILL_PER_MOVE_NS / NS_PER_MS}


@pytest.mark.parametrize(
    ("margin", "late_ms", "void"), [(0, 51, True), (0, 50, False), (100, 101, True), (100, 100, False)]
)
def test_a_flag_that_falls_while_the_server_was_held_up_is_nobodys(
    margin: int, late_ms: int, *, void: bool
) -> None:
    referee = started_referee(tc="1+0", margin=margin)
    referee.handle_event(DeadlinePassed(late_ms * NS_PER_MS), 2000 * NS_PER_MS)
    assert max(MAX_IGNORED_SERVER_STALL_NS, margin * NS_PER_MS) == (margin or 50) * NS_PER_MS
    assert referee.result is not None
    if void:
        assert (referee.result.winner, referee.result.reason) == (None, EndReason.SERVER_FAULT)
        assert f"{late_ms} ms" in referee.result.detail
    else:
        assert (referee.result.winner, referee.result.reason) == (MINNIE, EndReason.TIMEOUT)


def test_an_absent_player_has_lost_however_late_the_server_was() -> None:
    referee = started_referee(grace=500)
    referee.handle_event(PlayerDisconnected(MINNIE), 0)
    referee.handle_event(DeadlinePassed(10_000 * NS_PER_MS), 600 * NS_PER_MS)
    assert referee.result is not None
    assert (referee.result.winner, referee.result.reason) == (MAXIE, EndReason.DISCONNECT)


def test_after_an_outage_the_turn_restarts_when_its_mover_is_back() -> None:
    referee = started_referee(tc="1+0.1", grace=500)
    play(referee, 4, at=100 * NS_PER_MS)
    now = 5 * NS_PER_MS  # after a restart of the machine, its monotonic clock may have any value
    assert referee.handle_event(ServerRecovered(), now) == []
    assert referee.next_deadline_ns == now + 500 * NS_PER_MS, "both have the whole grace, and no clock runs"
    assert messages_to(referee.handle_event(PlayerReconnected(MAXIE), 100 * NS_PER_MS), MAXIE, Start)
    effects = referee.handle_event(PlayerReconnected(MINNIE), 400 * NS_PER_MS)
    (turn,) = messages_to(effects, MINNIE, Turn)
    assert (turn.ply, turn.moves, turn.clocks.minnie_ms, turn.clocks.maxie_ms) == (1, [4], 1000, 1000)
    referee.handle_event(TurnStarted(1), 400 * NS_PER_MS)
    (accepted,) = messages_to(
        referee.handle_event(MoveReceived(MINNIE, 1, 0), 600 * NS_PER_MS), MINNIE, Accepted
    )
    assert accepted.spent_ms == 200


def test_the_last_move_sent_again_after_an_outage_is_acknowledged_as_before() -> None:
    referee = started_referee()
    first = messages_to(referee.handle_event(MoveReceived(MAXIE, 0, 4), 7 * NS_PER_MS), MAXIE, Accepted)
    referee.handle_event(ServerRecovered(), 0)
    referee.handle_event(PlayerReconnected(MAXIE), 1)
    assert messages_to(referee.handle_event(MoveReceived(MAXIE, 0, 4), 2), MAXIE, Accepted) == first


def test_nobody_wins_if_both_players_stay_away_after_an_outage() -> None:
    referee = started_referee(grace=500)
    referee.handle_event(ServerRecovered(), 10 * NS_PER_MS)
    referee.handle_event(DeadlinePassed(), 510 * NS_PER_MS)
    assert referee.result is not None
    assert (referee.result.winner, referee.result.reason) == (None, EndReason.DISCONNECT)


def test_after_an_outage_the_time_to_get_ready_restarts() -> None:
    referee = Referee(terms(ready=1000))
    referee.handle_event(MatchOpened(), 0)
    referee.handle_event(PlayerReady(MAXIE), 900 * NS_PER_MS)
    referee.handle_event(ServerRecovered(), 5000 * NS_PER_MS)
    assert referee.next_deadline_ns == 6000 * NS_PER_MS
    referee.handle_event(PlayerReconnected(MAXIE), 5100 * NS_PER_MS)
    referee.handle_event(PlayerReconnected(MINNIE), 5100 * NS_PER_MS)
    assert messages_to(referee.handle_event(PlayerReady(MINNIE), 5200 * NS_PER_MS), MAXIE, Turn)


def test_the_clock_of_a_player_who_is_away_since_an_outage_does_not_start() -> None:
    referee = started_referee(tc="1+0")
    referee.handle_event(ServerRecovered(), 0)
    referee.handle_event(PlayerReconnected(MAXIE), 10 * NS_PER_MS)
    referee.handle_event(TurnStarted(0), 10 * NS_PER_MS)
    play(referee, 0, at=20 * NS_PER_MS)  # the next turn is not sent, because its player is away
    assert referee.get_clocks(400 * NS_PER_MS).minnie_ms == 1000
    assert (
        referee.next_deadline_ns == 500 * NS_PER_MS
    )  # the end of the grace period, which began when the server was back
    effects = referee.handle_event(PlayerReconnected(MINNIE), 450 * NS_PER_MS)
    (turn,) = messages_to(effects, MINNIE, Turn)
    assert turn.clocks.minnie_ms == 1000
    referee.handle_event(TurnStarted(1), 450 * NS_PER_MS)
    assert referee.get_clocks(950 * NS_PER_MS).minnie_ms == 500
    # After a later disconnection, the clock keeps running.
    referee.handle_event(PlayerDisconnected(MINNIE), 950 * NS_PER_MS)
    assert referee.get_clocks(1050 * NS_PER_MS).minnie_ms == 400
