"""Matches of a core, from their opening to their record."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from arena.games.core import Player
from arena.games.tictactoe import TicTacToe, TicTacToePosition
from arena.match.referee_events import (
    MatchOpened,
    MoveReceived,
    PlayerDisconnected,
    ServerFailed,
    TurnStarted,
)
from arena.match.replay import verify_record
from arena.protocol.codes import EndReason, ErrorCode
from arena.protocol.engines import EngineInfo
from arena.protocol.messages import (
    Accepted,
    End,
    Error,
    Hello,
    Move,
    Ready,
    Resign,
    Start,
    Status,
    Turn,
    Watch,
    Welcome,
)
from arena.protocol.values import Thinking
from arena.server.core.effects import (
    DURABLE_EFFECTS,
    AnalysisTrimmed,
    AppendMatchEvent,
    LogLine,
    PublishToTopic,
    SaveFinishedMatch,
    SaveNewMatch,
    SaveSession,
    SendMissedResult,
    SendToClient,
)
from arena.server.core.inputs import (
    BotCrashed,
    ClientAdmitted,
    EdgeResynced,
    MatchRequested,
    MatchRequestWithdrawn,
    MessageReceived,
    StartDraining,
    StoreRecovered,
    Tick,
    TurnSent,
)
from tests.server.core.arena import (
    LINE,
    MS,
    SECOND,
    Arena,
    Peer,
    answer_turn,
    arena_in_match,
    arena_with_two_bots,
    play_line,
)
from tests.server.matches import spec


def test_a_move_in_transit_when_its_match_ends_is_no_error() -> None:
    _, anna, bert, match = arena_in_match()
    bert.send(Resign(match))
    anna.send(Move(match, 0, 0), elapsed_ns=5 * MS)
    assert not [each for each in anna.received if isinstance(each, Error)]
    anna.send(Move(match, 0, 0))
    assert anna.receive(Error).code is ErrorCode.NO_SUCH_MATCH


def test_two_bots_play_a_match_to_its_end() -> None:
    arena, anna, bert, match = arena_in_match(
        reconnect_grace_ms=400, unix_ns_at_clock_zero=1_764_000_000 * SECOND
    )
    play_line(anna, bert)
    (record,) = arena.records
    assert len(verify_record(record).positions) == 6
    assert (record.match, record.started) == (match, "2025-11-24T16:00:00Z")
    assert [each.move for each in record.moves] == [0, 3, 1, 4, 2]
    for peer, turns in ((anna, 3), (bert, 2)):
        kinds = [type(message) for message in peer.received]
        assert kinds == [Welcome, Start, *[Turn, Accepted] * turns, End]
        assert (peer.receive(End).winner, peer.received[-1]) == ("maxie", anna.received[-1])
    assert arena.core.match_count == 0
    assert arena.of(SaveNewMatch)[0].terms.grace_ms == 400, "the server sets the grace period"


def test_the_journal_gets_a_move_before_the_players_do() -> None:
    arena, anna, _, match = arena_in_match()
    append, accepted, turn = arena.core.handle_input(MessageReceived(anna.client, Move(match, 0, 4), 5), 5)
    assert isinstance(append, DURABLE_EFFECTS)
    assert append == AppendMatchEvent(match, 5, 5, MoveReceived(Player.MAXIE, 0, 4), (0, TurnStarted(0)))
    assert isinstance(accepted, SendToClient)
    assert isinstance(turn, SendToClient)


@pytest.mark.parametrize(("spent", "reason"), [(1050, None), (1051, EndReason.TIMEOUT)])
def test_the_time_measured_by_the_edge_decides_if_transit_to_the_core_is_slow(
    spent: int, reason: EndReason | None
) -> None:
    arena, anna, _, match = arena_in_match("1+0", margin=50, max_edge_transit_ns=200 * MS)
    arena.wait(1249)
    assert not arena.records, "the move may still be in transit"
    anna.send(Move(match, 0, 4), spent * MS)
    if reason is None:
        assert anna.receive(Accepted).spent_ms == spent
    else:
        assert [each.result.reason for each in arena.records] == [reason]


def test_the_core_measures_the_time_if_the_edge_does_not_know_the_turn() -> None:
    arena, anna, _, match = arena_in_match("1+0")
    arena.wait(300)
    anna.send(Move(match, 0, 4))
    assert anna.receive(Accepted).spent_ms == 300


def test_the_clock_of_a_turn_starts_even_if_its_edge_never_reports_it() -> None:
    arena, *_ = arena_in_match("1+0", margin=50, reports_turns=False)
    arena.wait(11_049)
    assert not arena.records
    arena.wait(1)
    assert arena.records[0].result.reason is EndReason.TIMEOUT


def test_a_turn_whose_report_is_lost_is_charged_the_time_that_its_edge_measured() -> None:
    arena, anna, bert, match = arena_in_match("10+0", reports_turns=False)
    for ply, mover in enumerate((anna, bert, anna)):
        arena.wait(4_000)
        mover.send(Move(match, ply, LINE[ply]), 4_000 * MS)
        assert mover.all(Accepted)[-1].spent_ms == 4_000
    arena.wait(9_000)
    assert not arena.records, "the timeout for the report restarts with each turn"


def begin_match_and_reconnect(arena: Arena) -> tuple[str, Peer, Peer]:
    """Begin a match at 1+0 in which Maxie reconnects 900 ms after her turn. Return its id, Maxie's new connection, and Minnie."""
    anna, bert = arena.connect("anna"), arena.connect("bert")
    match = arena.begin_match(anna, bert, "1+0", margin=50)
    arena.handle(TurnSent(anna.client, match, 0, arena.now))
    arena.wait(900)
    return match, anna.reconnect(), bert


def test_a_returned_bot_does_not_lose_on_time_while_its_turn_is_in_transit() -> None:
    arena = Arena(reports_turns=False)
    match, back, _ = begin_match_and_reconnect(arena)
    arena.wait(500)
    assert not arena.records, "the turn may wait for a commit"
    arena.handle(TurnSent(back.client, match, 0, arena.now))
    arena.wait(149)
    assert not arena.records, "the edge counts on from 900 ms"
    arena.wait(1)
    assert arena.records[0].result.reason is EndReason.TIMEOUT
    assert arena.of(AppendMatchEvent)[-1].turn_start == (1400 * MS, TurnStarted(0, clock_ran_ns=900 * MS))


def test_the_time_of_a_repeated_turn_is_not_charged_to_the_next_player() -> None:
    arena = Arena(reports_turns=False)
    match, back, bert = begin_match_and_reconnect(arena)
    bert.disconnect()
    back.send(Move(match, 0, 4), 950 * MS)
    arena.wait(1049)
    assert not arena.records
    arena.wait(1)
    assert arena.records[0].result.winner == "maxie"


def test_after_a_resync_the_core_waits_for_a_move_that_the_edge_may_have() -> None:
    arena, anna, bert, match = arena_in_match(
        "1+0", margin=50, reports_turns=False, max_edge_transit_ns=200 * MS
    )
    arena.handle(TurnSent(anna.client, match, 0, arena.now))
    arena.now = 1300 * MS
    clients = [
        ClientAdmitted(peer.client, replace(peer.hello, session=peer.session), "192.0.2.1", "", "")
        for peer in (anna, bert)
    ]
    arena.handle(EdgeResynced(0, clients))
    arena.handle(Tick())
    assert not arena.records, "the edge may have received the move"
    anna.send(Move(match, 0, 4), 1040 * MS)
    assert anna.receive(Accepted).spent_ms == 1040


def test_a_turn_report_for_another_client_starts_no_clock() -> None:
    arena, _, bert, match = arena_in_match("1+0", margin=50, reports_turns=False)
    arena.handle(TurnSent(bert.client, match, 0, 0))
    arena.wait(2000)
    assert not arena.records


def test_a_loss_on_time_during_a_stall_of_the_server_voids_the_match() -> None:
    arena, anna, bert, _ = arena_in_match("1+0", margin=50)
    arena.now = 900 * MS
    arena.handle(Tick(stalled_ns=300 * MS))
    arena.wait(500)
    assert [each.result.reason for each in arena.records] == [EndReason.SERVER_FAULT]
    arena.begin_match(anna, bert, "1+0", margin=50)
    arena.wait(1050)
    assert arena.records[-1].result.reason is EndReason.TIMEOUT, "the stall was before this turn"


def test_nobody_wins_if_neither_bot_appears() -> None:
    arena = Arena()
    arena.request_match("anna", "bert", ready=300)
    arena.wait(300)
    assert arena.records[0].result.reason is EndReason.NO_SHOW
    assert arena.records[0].result.winner is None
    assert arena.core.find_bot("anna") is None, "a bot that never connected is forgotten"


def test_resignations_and_crashes_have_different_reasons() -> None:
    arena, anna, bert = arena_with_two_bots()
    anna.send(Resign(arena.begin_match(anna, bert)))
    bert.send(Resign(arena.begin_match(anna, bert), "crash", "no idea"))
    arena.begin_match(anna, bert)
    arena.handle(BotCrashed("anna", "killed"))
    results = [each.result for each in arena.records]
    assert [(each.winner, each.reason) for each in results] == [
        ("minnie", EndReason.RESIGNATION),
        ("maxie", EndReason.CRASH),
        ("minnie", EndReason.CRASH),
    ]
    assert results[2].detail.endswith("killed")


def test_a_protocol_violation_loses_all_matches_of_the_bot() -> None:
    arena = Arena()
    anna = arena.connect(Hello("anna", matches=2))
    for name in ("bert", "carl"):
        arena.begin_match(anna, arena.connect(name))
    anna.disconnect("a text frame")
    assert [each.result.reason for each in arena.records] == [EndReason.PROTOCOL_ERROR] * 2


def test_messages_about_matches_of_other_bots_are_refused() -> None:
    arena = Arena()
    anna, bert, carl = (arena.connect(name) for name in ("anna", "bert", "carl"))
    match = arena.begin_match(anna, bert)
    carl.send(Move(match, 0, 4))
    carl.send(Move("none", 0, 4))
    carl.send(Ready(match))
    assert [(each.code, each.match) for each in carl.all(Error)] == [
        (ErrorCode.NO_SUCH_MATCH, match),
        (ErrorCode.NO_SUCH_MATCH, "none"),
        (ErrorCode.NO_SUCH_MATCH, match),
    ]
    anna.send(Resign(match))
    anna.send(Ready(match))
    anna.send(Resign("long ago"))
    assert arena.of(SendMissedResult) == [
        SendMissedResult(anna.client, "anna", match),
        SendMissedResult(anna.client, "anna", "long ago"),
    ]


def test_messages_that_arrived_before_the_end_was_sent_get_no_further_answer() -> None:
    arena, anna, bert, match = arena_in_match()
    arrived = arena.now
    arena.now += MS
    anna.send(Resign(match))
    for message in (Resign(match), Ready(match)):
        arena.handle(MessageReceived(bert.client, message, arrived))
    assert not arena.of(SendMissedResult)
    assert len(bert.all(End)) == 1
    bert.send(Resign(match))
    assert arena.of(SendMissedResult) == [SendMissedResult(bert.client, "bert", match)]


def test_a_repeated_move_is_acknowledged_again_and_changes_nothing() -> None:
    arena, anna, _, match = arena_in_match()
    eve = arena.connect(Hello("eve", role="spectator"))
    eve.send(Watch(match))
    anna.send(Move(match, 0, 4))
    before = len(arena.of(AppendMatchEvent)), len(arena.of(PublishToTopic))
    anna.send(Move(match, 0, 4))
    assert len(anna.all(Accepted)) == 2
    assert (len(arena.of(AppendMatchEvent)), len(arena.of(PublishToTopic))) == before


def test_an_analysis_is_shortened_before_it_is_stored() -> None:
    arena, anna, _, match = arena_in_match()
    line = [4, 0, {"no": "move"}, "x" * 10_000]
    anna.send(Move(match, 0, 4, Thinking(depth=2, line=line)))
    assert arena.of(AppendMatchEvent)[-1].event.thinking == Thinking(depth=2, line=[4, 0])
    assert arena.of(AnalysisTrimmed) == [AnalysisTrimmed(2)]


class Broken(TicTacToe):
    """Game of a user that raises an exception at move 8."""

    def successor(self, position: TicTacToePosition, move: int) -> TicTacToePosition:
        if move == 8:
            raise RuntimeError("no idea")
        return super().successor(position, move)


class NoStart(TicTacToe):
    """Game of a user whose start position raises an exception."""

    def start(self) -> TicTacToePosition:
        raise RuntimeError("no start")


def test_a_bug_in_a_game_voids_only_its_match() -> None:
    arena = Arena()
    anna, bert = arena.connect(Hello("anna", matches=2)), arena.connect(Hello("bert", matches=2))
    other = arena.begin_match(anna, bert)
    terms = replace(spec("anna", "bert"), match="b" * 32, game=Broken())
    arena.handle(MatchRequested(terms))
    for peer in (anna, bert):
        peer.send(Ready("b" * 32))
    anna.send(Move("b" * 32, 0, 8))
    (record,) = arena.records
    assert (record.match, record.result.reason) == ("b" * 32, EndReason.SERVER_FAULT)
    assert "no idea" in next(each.text for each in arena.of(LogLine) if each.level == "error")
    assert isinstance(arena.of(AppendMatchEvent)[-1].event, ServerFailed)
    assert [peer.all(End)[0].reason for peer in (anna, bert)] == [EndReason.SERVER_FAULT] * 2
    anna.send(Move(other, 0, 8))
    assert anna.all(Accepted)[-1].match == other


def test_a_match_that_cannot_be_set_up_is_void_and_leaves_no_state() -> None:
    arena = Arena()
    arena.handle(MatchRequested(replace(spec("anna", "bert"), game=NoStart())))
    assert [each.result.reason for each in arena.records] == [EndReason.SERVER_FAULT]
    assert [type(each) for each in arena.effects] == [SaveNewMatch, LogLine, SaveFinishedMatch]
    assert (arena.core.match_count, arena.core.find_bot("anna")) == (0, None)


# requested by an event


def test_a_draining_core_begins_no_match() -> None:
    arena = Arena()
    anna, bert, carl = (arena.connect(name) for name in ("anna", "bert", "carl"))
    first = arena.begin_match(anna, bert)
    arena.request_match(anna, carl)
    arena.handle(StartDraining())
    arena.request_match(carl, arena.connect("dora"))
    anna.send(Resign(first))
    arena.wait(10)
    assert [each.terms.match for each in arena.of(SaveNewMatch)] == [first]
    assert arena.core.match_count == 0


def test_a_requested_match_waits_until_both_bots_are_free() -> None:
    arena = Arena()
    anna, bert, carl = (arena.connect(name) for name in ("anna", "bert", "carl"))
    first = arena.begin_match(anna, bert)
    second = arena.request_match(carl, anna)
    assert arena.core.match_count == 1
    bert.send(Resign(first))
    assert anna.all(Start)[-1].match == second
    assert arena.core.match_count == 1


def test_a_disconnected_bot_gets_no_more_matches_than_its_capacity() -> None:
    arena, anna, *_ = arena_in_match()
    anna.disconnect()
    arena.request_match("anna", "carl", ready=300)
    arena.request_match("dora", "emil", ready=300)
    arena.request_match("dora", "emil", ready=300)
    assert arena.core.match_count == 2
    arena.wait(300)
    assert arena.core.match_count == 2, (
        "the first match of dora and emil has ended, and their second has begun"
    )


def test_a_requested_match_waits_while_the_quota_of_a_bot_is_used_up() -> None:
    arena = Arena()
    anna, bert = arena.connect("anna"), arena.connect("bert")
    anna.send(Status(0))
    first = arena.request_match(anna, bert)
    assert arena.core.match_count == 0
    anna.send(Status(1))
    for peer in (anna, bert):
        peer.send(Ready(first))
    play_line(anna, bert)
    second = arena.request_match(anna, bert, ready=300)
    assert arena.core.match_count == 0
    anna.disconnect()
    bert.send(Ready(second))
    arena.wait(300)
    assert (arena.records[-1].result.winner, arena.records[-1].result.reason) == ("minnie", EndReason.NO_SHOW)


def test_a_waiting_match_can_be_withdrawn_and_a_begun_match_continues() -> None:
    arena = Arena()
    anna, bert, carl = (arena.connect(name) for name in ("anna", "bert", "carl"))
    first = arena.begin_match(anna, bert)
    for match in (arena.request_match(carl, anna), first):
        arena.handle(MatchRequestWithdrawn(match))
    assert arena.core.match_count == 1
    bert.send(Resign(first))
    assert arena.core.match_count == 0
    assert [each.match for each in arena.records] == [first]


def test_terms_name_the_engines_and_start_names_their_threads() -> None:
    arena = Arena()
    engine = EngineInfo("jamboree", {"depth": "8"}, 4)
    anna, bert = arena.connect(Hello("anna", engine=engine)), arena.connect("bert")
    arena.request_match(anna, bert)
    assert (anna.receive(Start).threads, bert.receive(Start).threads) == (4, 1)
    assert arena.of(SaveNewMatch)[0].terms.engines.maxie == engine


def test_clocks_restart_for_players_that_did_not_get_their_turn() -> None:
    arena, anna, bert, _ = arena_in_match("1+0", margin=50)
    bert.disconnect()
    arena.now += 900 * MS
    arena.handle(StoreRecovered())
    arena.wait(1000)
    assert not arena.records
    assert [type(each) for each in anna.received[-2:]] == [Start, Turn]
    answer_turn(anna, 4)
    assert anna.all(Accepted)[0].spent_ms <= 1000
    assert any(isinstance(each.event, PlayerDisconnected) for each in arena.of(AppendMatchEvent))
    assert isinstance(arena.of(AppendMatchEvent)[0].event, MatchOpened)
    assert arena.of(SaveSession)
