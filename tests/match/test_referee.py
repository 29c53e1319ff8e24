"""The referee: every way in which a match can end, and properties of all matches."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from arena.games.core import GameError, Player
from arena.match.clock import NS_PER_MS
from arena.match.lag import MAX_LAG_BUDGET_NS
from arena.match.referee import MAX_REJECTED_MESSAGES, Referee
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
    RefereeEvent,
    ServerFailed,
    ServerRecovered,
    SessionLost,
    TurnStarted,
)
from arena.protocol.codes import EndReason, ErrorCode
from arena.protocol.messages import Accepted, End, Error, Start, Turn
from arena.protocol.timecontrol import TimeControl, TimeOdds
from arena.protocol.values import Clocks
from tests.match.refereed import MAXIE, MINNIE, messages_to, play, started_referee
from tests.server.matches import terms


def test_both_get_start_and_the_turn_is_sent_when_both_are_ready() -> None:
    referee = Referee(terms())
    starts = referee.handle_event(MatchOpened(), 0)
    assert [messages_to(starts, player, Start)[0].seat for player in Player] == ["maxie", "minnie"]
    assert referee.handle_event(PlayerReady(MAXIE), 1) == []
    assert referee.handle_event(PlayerReady(MAXIE), 2) == []
    effects = referee.handle_event(PlayerReady(MINNIE), 3)
    assert effects == [NotifyPlayer(MAXIE, Turn("m" * 32, 0, [], referee._clock.make_clocks_message(), 100))]


def test_with_time_odds_each_player_gets_its_own_time() -> None:
    referee = Referee(replace(terms(), time_odds=TimeOdds(minnie="3+0.5")))
    starts = referee.handle_event(MatchOpened(), 0)
    own = [messages_to(starts, player, Start)[0].time_control for player in Player]
    assert own == [terms().time_control, TimeControl(3000, 500)]
    referee.handle_event(PlayerReady(MAXIE), 0)
    [turn] = messages_to(referee.handle_event(PlayerReady(MINNIE), 0), MAXIE, Turn)
    assert (turn.clocks, turn.increment_ms) == (Clocks(1000, 3000), 100)
    referee.handle_event(TurnStarted(0), 0)
    [turn] = messages_to(referee.handle_event(MoveReceived(MAXIE, 0, 4), 0), MINNIE, Turn)
    assert (turn.clocks, turn.increment_ms) == (Clocks(1100, 3000), 500)
    referee.handle_event(TurnStarted(1), 0)
    [turn] = messages_to(referee.handle_event(MoveReceived(MINNIE, 1, 0), 1000 * NS_PER_MS), MAXIE, Turn)
    assert turn.clocks == Clocks(1100, 2500)


@pytest.mark.parametrize("cells", [(4,), (4, 0), (4, 0, 8)])
def test_an_opening_is_played_before_the_players_begin(cells: tuple[int, ...]) -> None:
    referee = Referee(replace(terms(), opening=cells))
    for event in (MatchOpened(), PlayerReady(MINNIE)):
        referee.handle_event(event, 0)
    [turn] = referee.handle_event(PlayerReady(MAXIE), 0)
    mover = MINNIE if len(cells) % 2 else MAXIE
    assert turn == NotifyPlayer(mover, Turn("m" * 32, len(cells), list(cells), referee.get_clocks(0), 100))
    assert [(each.move, each.ms, each.opening) for each in referee.moves] == [(c, 0, True) for c in cells]
    assert referee.get_clocks(0).maxie_ms == referee.get_clocks(0).minnie_ms == 1000, (
        "no increment is given for it"
    )
    referee.handle_event(TurnStarted(len(cells)), 0)
    [rejected] = messages_to(
        referee.handle_event(MoveReceived(mover.opponent, 0, 7), 1), mover.opponent, Error
    )
    assert rejected.code is ErrorCode.STALE_PLY
    [accepted] = messages_to(
        referee.handle_event(MoveReceived(mover, len(cells), 1), NS_PER_MS), mover, Accepted
    )
    assert (accepted.ply, accepted.spent_ms) == (len(cells), 1)
    assert not referee.moves[-1].opening


def test_an_opening_that_ends_the_match_is_refused() -> None:
    with pytest.raises(GameError, match="must not end the match"):
        Referee(replace(terms(), opening=(0, 3, 1, 4, 2)))


@pytest.mark.parametrize(
    ("ready", "winner"),
    [((), None), ((MAXIE,), MAXIE), ((MINNIE,), MINNIE)],
    ids=["neither", "maxie", "minnie"],
)
def test_a_player_not_ready_in_time_is_a_no_show(ready: tuple[Player, ...], winner: Player | None) -> None:
    referee = Referee(terms(ready=1000))
    referee.handle_event(MatchOpened(), 5)
    for player in ready:
        referee.handle_event(PlayerReady(player), 6)
    assert referee.next_deadline_ns == 5 + 1000 * NS_PER_MS
    assert referee.handle_event(DeadlinePassed(), referee.next_deadline_ns - 1) == []
    effects = referee.handle_event(DeadlinePassed(), referee.next_deadline_ns)
    assert referee.result is not None
    assert (referee.result.winner, referee.result.reason) == (winner, EndReason.NO_SHOW)
    assert messages_to(effects, MAXIE, End)
    assert messages_to(effects, MINNIE, End)


def test_a_match_is_played_to_its_line() -> None:
    referee = started_referee()
    effects = play(referee, 0, 3, 1, 4, 2)
    assert referee.result == MatchResult(MAXIE, EndReason.LINE, "three in a line")
    (end,) = messages_to(effects, MINNIE, End)
    assert end.moves == [0, 3, 1, 4, 2]
    assert end.winner == "maxie"


def test_the_flag_falls_at_clock_and_margin_and_not_before() -> None:
    referee = started_referee(tc="1+0", margin=50)
    assert referee.next_deadline_ns == 1050 * NS_PER_MS
    assert referee.handle_event(DeadlinePassed(), 1050 * NS_PER_MS - 1) == []
    referee.handle_event(DeadlinePassed(), 1050 * NS_PER_MS)
    assert referee.result is not None
    assert (referee.result.winner, referee.result.reason) == (MINNIE, EndReason.TIMEOUT)
    assert "anna" in referee.result.detail
    assert "1000.0 ms and a margin of 50 ms" in referee.result.detail


@given(st.integers(0, 3000), st.sampled_from(["1+0", "1+0.1", "1/move"]))
def test_a_move_is_in_time_exactly_within_clock_and_margin(spent: int, tc: str) -> None:
    referee = started_referee(tc=tc, margin=50)
    effects = referee.handle_event(MoveReceived(MAXIE, 0, 4), spent * NS_PER_MS)
    if spent <= 1050:
        (accepted,) = messages_to(effects, MAXIE, Accepted)
        assert accepted.spent_ms == spent
        assert messages_to(effects, MINNIE, Turn)
    else:
        assert referee.result is not None
        assert referee.result.reason is EndReason.TIMEOUT
        assert f"{spent - 1050:.1f} ms after the flag fell" in referee.result.detail


@given(st.sampled_from(["1+0", "1+0.1", "1/move"]), st.integers(0, 100), st.integers(0, 2000 * NS_PER_MS))
def test_a_move_at_the_fall_of_the_flag_is_in_time_and_one_nanosecond_later_is_not(
    tc: str, margin: int, lag: int
) -> None:
    for late, reason in ((0, None), (1, EndReason.TIMEOUT)):
        referee = started_referee(tc=tc, margin=margin)
        referee.handle_event(TurnStarted(0, lag_ns=lag), 0)
        assert referee.next_deadline_ns == (1000 + margin) * NS_PER_MS + min(lag, MAX_LAG_BUDGET_NS)
        referee.handle_event(MoveReceived(MAXIE, 0, 4), referee.next_deadline_ns + late)
        assert (referee.result.reason if referee.result else None) is reason


def test_the_clock_runs_from_when_the_turn_left() -> None:
    referee = Referee(terms(tc="1+0", margin=0))
    for event, at in (
        (MatchOpened(), 0),
        (PlayerReady(MAXIE), 0),
        (PlayerReady(MINNIE), 100 * NS_PER_MS),
        (TurnStarted(0), 400 * NS_PER_MS),
    ):
        referee.handle_event(event, at)
    assert referee.next_deadline_ns == 1400 * NS_PER_MS
    (accepted,) = messages_to(
        referee.handle_event(MoveReceived(MAXIE, 0, 0), 500 * NS_PER_MS), MAXIE, Accepted
    )
    assert accepted.spent_ms == 100


def test_the_same_move_again_is_acknowledged_again_and_changes_nothing() -> None:
    referee = started_referee()
    first = messages_to(referee.handle_event(MoveReceived(MAXIE, 0, 4), 7 * NS_PER_MS), MAXIE, Accepted)
    before = referee.revision
    assert (
        messages_to(referee.handle_event(MoveReceived(MAXIE, 0, 4), 90 * NS_PER_MS), MAXIE, Accepted) == first
    )
    assert referee.revision == before


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (MoveReceived(MAXIE, 0, 5), ErrorCode.STALE_PLY),
        (MoveReceived(MINNIE, 0, 4), ErrorCode.STALE_PLY),
        (MoveReceived(MAXIE, 1, 5), ErrorCode.OUT_OF_TURN),
        (MoveReceived(MAXIE, 2, 5), ErrorCode.OUT_OF_TURN),
        (MoveReceived(MINNIE, 7, 5), ErrorCode.OUT_OF_TURN),
    ],
)
def test_stale_and_early_moves_get_an_error_and_the_match_continues(
    event: MoveReceived, code: ErrorCode
) -> None:
    referee = started_referee()
    play(referee, 4)
    (error,) = messages_to(referee.handle_event(event, 1), event.player, Error)
    assert error.code is code
    assert error.ply == event.ply
    assert referee.ply == 1
    assert not referee.is_over


def test_a_move_before_both_are_ready_is_refused() -> None:
    referee = Referee(terms())
    referee.handle_event(MatchOpened(), 0)
    (error,) = messages_to(referee.handle_event(MoveReceived(MAXIE, 0, 4), 1), MAXIE, Error)
    assert error.code is ErrorCode.NOT_STARTED


def test_too_many_faults_lose() -> None:
    referee = started_referee()
    for _ in range(MAX_REJECTED_MESSAGES):
        referee.handle_event(MoveReceived(MINNIE, 5, 4), 1)
    assert not referee.is_over
    effects = referee.handle_event(MoveReceived(MINNIE, 5, 4), 1)
    assert messages_to(effects, MINNIE, Error)[0].code is ErrorCode.TOO_MANY_FAULTS
    assert referee.result is not None
    assert (referee.result.winner, referee.result.reason) == (MAXIE, EndReason.PROTOCOL_ERROR)


@pytest.mark.parametrize("move", [4, 9, -1, "b2", None, [1, 2], True, {"cell": 1}])
def test_an_illegal_move_loses_and_the_legal_moves_are_shown(move: object) -> None:
    referee = started_referee()
    play(referee, 4)
    effects = referee.handle_event(MoveReceived(MINNIE, 1, move), 1)
    assert referee.result is not None
    assert (referee.result.winner, referee.result.reason) == (MAXIE, EndReason.ILLEGAL_MOVE)
    (error,) = messages_to(effects, MINNIE, Error)
    assert "....X...." in error.detail
    if move == 4:
        assert "b2 is taken by X" in error.detail
        assert "legal: a1, b1, c1, a2, c2, a3, b3, c3" in error.detail


def test_resignation_and_protocol_error_and_server_fault() -> None:
    for event, winner, reason, detail in (
        (PlayerResigned(MAXIE), MINNIE, EndReason.RESIGNATION, "maxie (anna) resigned"),
        (PlayerResigned(MAXIE, "crash", "no move"), MINNIE, EndReason.CRASH, "maxie (anna) crashed: no move"),
        (
            ProtocolViolated(MINNIE, "garbage"),
            MAXIE,
            EndReason.PROTOCOL_ERROR,
            "minnie (bert) broke the protocol: garbage",
        ),
        (ServerFailed("disk"), None, EndReason.SERVER_FAULT, "disk"),
    ):
        referee = started_referee()
        referee.handle_event(event, 1)
        assert referee.result == MatchResult(winner, reason, detail)


def test_a_lost_connection_changes_the_state_once_however_often_it_is_reported() -> None:
    referee = started_referee()
    before = referee.revision
    for _ in range(3):
        referee.handle_event(PlayerDisconnected(MINNIE), 10 * NS_PER_MS)
        assert referee.revision == before + 1
    referee.handle_event(PlayerReconnected(MINNIE), 20 * NS_PER_MS)
    assert referee.revision == before + 2


def test_a_player_away_longer_than_the_grace_loses_by_disconnect() -> None:
    referee = started_referee(grace=500)
    referee.handle_event(PlayerDisconnected(MINNIE), 10 * NS_PER_MS)
    assert referee.next_deadline_ns == 510 * NS_PER_MS
    referee.handle_event(DeadlinePassed(), 510 * NS_PER_MS)
    assert referee.result is not None
    assert (referee.result.winner, referee.result.reason) == (MAXIE, EndReason.DISCONNECT)


def test_the_clock_of_an_absent_player_runs_on_and_its_end_is_a_disconnect() -> None:
    referee = started_referee(tc="1+0", margin=0, grace=5000)
    referee.handle_event(PlayerDisconnected(MAXIE), 10 * NS_PER_MS)
    assert referee.next_deadline_ns == 1000 * NS_PER_MS
    referee.handle_event(DeadlinePassed(), 1000 * NS_PER_MS)
    assert referee.result is not None
    assert referee.result.reason is EndReason.DISCONNECT


def test_a_flag_that_had_fallen_when_the_connection_was_lost_is_a_timeout() -> None:
    referee = started_referee(tc="1+0", margin=0, grace=5000)
    referee.handle_event(PlayerDisconnected(MAXIE), 1000 * NS_PER_MS)
    referee.handle_event(DeadlinePassed(), 1000 * NS_PER_MS)
    assert referee.result is not None
    assert (referee.result.winner, referee.result.reason) == (MINNIE, EndReason.TIMEOUT)


def test_a_returning_player_gets_the_whole_state_and_continues() -> None:
    referee = started_referee()
    play(referee, 4, 0)
    referee.handle_event(PlayerDisconnected(MAXIE), 10 * NS_PER_MS)
    effects = referee.handle_event(PlayerReconnected(MAXIE), 200 * NS_PER_MS)
    assert messages_to(effects, MAXIE, Start)
    (turn,) = messages_to(effects, MAXIE, Turn)
    assert turn.moves == [4, 0]
    assert turn.clocks.maxie_ms == 1100 - 200
    (accepted,) = messages_to(
        referee.handle_event(MoveReceived(MAXIE, 2, 8), 300 * NS_PER_MS), MAXIE, Accepted
    )
    assert accepted.spent_ms == 300


def test_a_fresh_connection_takes_a_seat_before_the_match_and_loses_it_during() -> None:
    referee = Referee(terms())
    for event in (MatchOpened(), PlayerReady(MAXIE), SessionLost(MAXIE), PlayerReady(MINNIE)):
        referee.handle_event(event, 0)
    (turn,) = messages_to(referee.handle_event(PlayerReady(MAXIE), 1), MAXIE, Turn)
    assert turn.ply == 0
    referee.handle_event(SessionLost(MAXIE), 2)
    assert referee.result is not None
    assert (referee.result.winner, referee.result.reason) == (MINNIE, EndReason.DISCONNECT)


def test_a_new_process_of_a_proved_bot_gets_the_match_and_its_turn() -> None:
    referee = Referee(terms())
    for event in (MatchOpened(), PlayerReady(MAXIE), SessionLost(MAXIE, is_authenticated=True)):
        effects = referee.handle_event(event, 0)
    assert messages_to(effects, MAXIE, Start)
    assert not messages_to(referee.handle_event(PlayerReady(MINNIE), 0), MAXIE, Turn), "it is not ready yet"
    referee.handle_event(PlayerReady(MAXIE), 0)
    referee.handle_event(MoveReceived(MAXIE, 0, 4), 1)
    referee.handle_event(MoveReceived(MINNIE, 1, 0), 2)
    effects = referee.handle_event(SessionLost(MAXIE, is_authenticated=True), 3)
    assert [turn.moves for turn in messages_to(effects, MAXIE, Turn)] == [[4, 0]]
    assert referee.result is None


some_player = st.sampled_from(list(Player))
any_event: st.SearchStrategy[RefereeEvent] = st.one_of(
    st.builds(MatchOpened),
    st.builds(PlayerReady, some_player),
    st.builds(TurnStarted, st.integers(0, 9), st.integers(0, 600 * NS_PER_MS)),
    st.builds(MoveReceived, some_player, st.integers(0, 9), st.integers(-1, 9) | st.none()),
    st.builds(PlayerDisconnected, some_player),
    st.builds(PlayerReconnected, some_player),
    st.builds(DeadlinePassed, st.integers(0, 200 * NS_PER_MS)),
)
rare_event: st.SearchStrategy[RefereeEvent] = st.one_of(
    st.builds(SessionLost, some_player, st.booleans()),
    st.builds(ServerRecovered),
    st.builds(PlayerResigned, some_player),
    st.builds(ProtocolViolated, some_player, st.just("x")),
)
happenings = st.lists(
    st.tuples(any_event | any_event | any_event | rare_event, st.integers(0, 400)), max_size=60
)


@given(happenings)
def test_a_match_always_has_a_deadline_and_ends_once_for_both_players(
    script: list[tuple[RefereeEvent, int]],
) -> None:
    referee = Referee(terms())
    referee.handle_event(MatchOpened(), 0)
    now, ends = 0, []
    for event, pause in script:
        now += pause * NS_PER_MS
        effects = referee.handle_event(event, now)
        if isinstance(event, PlayerReady | MoveReceived | PlayerReconnected):
            referee.handle_event(TurnStarted(referee.ply), now)
        ends += [each for each in effects if isinstance(each, NotifyPlayer) and isinstance(each.message, End)]
        assert referee.is_over == (referee.next_deadline_ns is None)
    while (deadline := referee.next_deadline_ns) is not None:
        now = max(now, deadline)
        effects = referee.handle_event(DeadlinePassed(), now)
        ends += [each for each in effects if isinstance(each, NotifyPlayer) and isinstance(each.message, End)]
        assert effects, "a deadline that fell must have its effect"
    assert sorted(each.player for each in ends) == sorted(Player)
    assert referee.handle_event(PlayerResigned(MAXIE), now) == []


@given(happenings)
def test_a_journal_replayed_gives_the_same_effects(script: list[tuple[RefereeEvent, int]]) -> None:
    referee, now = Referee(terms()), 0
    effects = [referee.handle_event(MatchOpened(), 0)]
    journal: list[tuple[RefereeEvent, int]] = [(MatchOpened(), 0)]
    for event, pause in script:
        now += pause * NS_PER_MS
        before = referee.revision
        effect = referee.handle_event(event, now)
        if referee.revision != before:
            journal.append((event, now))
            effects.append(effect)
    wire = msgspec.json.encode(journal)
    again = Referee(terms())
    assert [
        again.handle_event(event, at)
        for event, at in msgspec.json.decode(wire, type=list[tuple[RefereeEvent, int]])
    ] == effects
    assert again.result == referee.result
    assert again.moves == referee.moves
