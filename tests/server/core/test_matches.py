"""Matches of a core: from their opening to their record, by whatever way they end."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from arena.games.core import Player
from arena.games.tictactoe import Board, TicTacToe
from arena.match.referee_events import (
    MatchOpened,
    MoveReceived,
    PlayerDisconnected,
    ServerFailed,
    TurnStarted,
)
from arena.match.replay import verify_record
from arena.protocol.codes import Code, EndReason
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
    AnalysisMovesCut,
    AppendEvent,
    CloseMatch,
    LogLine,
    OpenMatch,
    PublishToTopic,
    SaveSession,
    SendMissedResult,
    SendToClient,
)
from arena.server.core.inputs import (
    BotCrashed,
    ClientAdmitted,
    EdgeResynced,
    MatchRequested,
    MatchWithdrawn,
    MessageReceived,
    StartDraining,
    StoreRecovered,
    Tick,
    TurnSent,
)
from tests.server.core.arena import LINE, MS, SECOND, Arena, Peer, answer, in_match, play_line, two
from tests.server.matches import spec


def test_an_answer_that_crosses_with_the_end_of_its_match_is_no_error() -> None:
    _, anna, bert, match = in_match()
    bert.say(Resign(match))
    anna.say(Move(match, 0, 0), elapsed_ns=5 * MS)
    assert not [each for each in anna.heard if isinstance(each, Error)]
    anna.say(Move(match, 0, 0))
    assert anna.hear(Error).code is Code.NO_SUCH_MATCH


def test_two_bots_play_a_match_to_its_end() -> None:
    arena, anna, bert, match = in_match(grace_ms=400, epoch_ns=1_764_000_000 * SECOND)
    play_line(anna, bert)
    (record,) = arena.records
    assert len(verify_record(record).positions) == 6
    assert (record.match, record.started) == (match, "2025-11-24T16:00:00Z")
    assert [each.move for each in record.moves] == [0, 3, 1, 4, 2]
    for peer, turns in ((anna, 3), (bert, 2)):
        kinds = [type(message) for message in peer.heard]
        assert kinds == [Welcome, Start, *[Turn, Accepted] * turns, End]
        assert (peer.hear(End).winner, peer.heard[-1]) == ("maxie", anna.heard[-1])
    assert arena.core.match_count == 0
    assert arena.of(OpenMatch)[0].terms.grace_ms == 400, "the server sets how long a bot may take to return"


def test_a_move_is_given_to_the_journal_before_anybody_is_told() -> None:
    arena, anna, _, match = in_match()
    append, accepted, turn = arena.core.handle(MessageReceived(anna.client, Move(match, 0, 4), 5), 5)
    assert isinstance(append, DURABLE_EFFECTS)
    assert append == AppendEvent(match, 5, 5, MoveReceived(Player.MAXIE, 0, 4), (0, TurnStarted(0)))
    assert isinstance(accepted, SendToClient)
    assert isinstance(turn, SendToClient)


@pytest.mark.parametrize(("spent", "reason"), [(1050, None), (1051, EndReason.TIMEOUT)])
def test_the_edges_own_measure_decides_where_the_way_to_the_core_is_long(
    spent: int, reason: EndReason | None
) -> None:
    arena, anna, _, match = in_match("1+0", margin=50, transit_ns=200 * MS)
    arena.wait(1249)
    assert not arena.records, "the move may still be on its way"
    anna.say(Move(match, 0, 4), spent * MS)
    if reason is None:
        assert anna.hear(Accepted).spent_ms == spent
    else:
        assert [each.result.reason for each in arena.records] == [reason]


def test_an_edge_that_does_not_know_the_turn_leaves_the_measure_to_the_core() -> None:
    arena, anna, _, match = in_match("1+0")
    arena.wait(300)
    anna.say(Move(match, 0, 4))
    assert anna.hear(Accepted).spent_ms == 300


def test_a_turn_whose_leaving_is_never_reported_runs_all_the_same() -> None:
    arena, *_ = in_match("1+0", margin=50, reports=False)
    arena.wait(11_049)
    assert not arena.records
    arena.wait(1)
    assert arena.records[0].result.reason is EndReason.TIMEOUT


def test_a_turn_whose_report_is_lost_is_charged_as_its_edge_measured() -> None:
    arena, anna, bert, match = in_match("10+0", reports=False)
    for ply, mover in enumerate((anna, bert, anna)):
        arena.wait(4_000)
        mover.say(Move(match, ply, LINE[ply]), 4_000 * MS)
        assert mover.all(Accepted)[-1].spent_ms == 4_000
    arena.wait(9_000)
    assert not arena.records, "each turn has the whole time to be reported"


def begin_and_return(arena: Arena) -> tuple[str, Peer, Peer]:
    """Begin a match of 1+0 and a margin of 50 ms, in which Maxie comes back 900 ms after her turn. Return its id, her and Minnie."""
    anna, bert = arena.enter("anna"), arena.enter("bert")
    match = arena.begin(anna, bert, "1+0", margin=50)
    arena.give(TurnSent(anna.client, match, 0, arena.now))
    arena.wait(900)
    return match, anna.back(), bert


def test_no_flag_falls_while_a_turn_is_on_its_way_to_a_bot_that_is_back() -> None:
    arena = Arena(reports=False)
    match, back, _ = begin_and_return(arena)
    arena.wait(500)
    assert not arena.records, "the store may keep the turn from leaving"
    arena.give(TurnSent(back.client, match, 0, arena.now))
    arena.wait(149)
    assert not arena.records, "its edge counts 900 ms, and the time from now on"
    arena.wait(1)
    assert arena.records[0].result.reason is EndReason.TIMEOUT
    assert arena.of(AppendEvent)[-1].turn == (1400 * MS, TurnStarted(0, clock_ran_ns=900 * MS))


def test_the_time_that_a_turn_had_run_is_not_charged_to_the_next_player() -> None:
    arena = Arena(reports=False)
    match, back, bert = begin_and_return(arena)
    bert.leave()
    back.say(Move(match, 0, 4), 950 * MS)
    arena.wait(1049)
    assert not arena.records
    arena.wait(1)
    assert arena.records[0].result.winner == "maxie"


def test_an_edge_that_lists_its_clients_after_a_loss_may_have_the_answer_to_a_turn() -> None:
    arena, anna, bert, match = in_match("1+0", margin=50, reports=False, transit_ns=200 * MS)
    arena.give(TurnSent(anna.client, match, 0, arena.now))
    arena.now = 1300 * MS
    clients = [
        ClientAdmitted(peer.client, replace(peer.hello, session=peer.session), "192.0.2.1", "", "")
        for peer in (anna, bert)
    ]
    arena.give(EdgeResynced(0, clients))
    arena.give(Tick())
    assert not arena.records, "the edge has not been asked yet"
    anna.say(Move(match, 0, 4), 1040 * MS)
    assert anna.hear(Accepted).spent_ms == 1040


def test_the_report_of_somebody_else_starts_no_clock() -> None:
    arena, _, bert, match = in_match("1+0", margin=50, reports=False)
    arena.give(TurnSent(bert.client, match, 0, 0))
    arena.wait(2000)
    assert not arena.records


def test_a_flag_that_falls_while_the_server_is_held_up_is_nobodys() -> None:
    arena, anna, bert, _ = in_match("1+0", margin=50)
    arena.now = 900 * MS
    arena.give(Tick(stalled_ns=300 * MS))
    arena.wait(500)
    assert [each.result.reason for each in arena.records] == [EndReason.SERVER_FAULT]
    arena.begin(anna, bert, "1+0", margin=50)
    arena.wait(1050)
    assert arena.records[-1].result.reason is EndReason.TIMEOUT, "it was held up before this turn"


def test_neither_is_there_and_nobody_wins() -> None:
    arena = Arena()
    arena.play("anna", "bert", ready=300)
    arena.wait(300)
    assert arena.records[0].result.reason is EndReason.NO_SHOW
    assert arena.records[0].result.winner is None
    assert arena.core.find_bot("anna") is None, "names come from the network"


def test_resigning_and_crashing_are_told_apart() -> None:
    arena, anna, bert = two()
    anna.say(Resign(arena.begin(anna, bert)))
    bert.say(Resign(arena.begin(anna, bert), "crash", "no idea"))
    arena.begin(anna, bert)
    arena.give(BotCrashed("anna", "killed"))
    results = [each.result for each in arena.records]
    assert [(each.winner, each.reason) for each in results] == [
        ("minnie", EndReason.RESIGNATION),
        ("maxie", EndReason.CRASH),
        ("minnie", EndReason.CRASH),
    ]
    assert results[2].detail.endswith("killed")


def test_a_protocol_violation_loses_all_matches_of_the_bot() -> None:
    arena = Arena()
    anna = arena.enter(Hello("anna", matches=2))
    for name in ("bert", "carl"):
        arena.begin(anna, arena.enter(name))
    anna.leave("a text frame")
    assert [each.result.reason for each in arena.records] == [EndReason.PROTOCOL_ERROR] * 2


def test_messages_about_matches_that_are_not_ones_own_are_refused() -> None:
    arena = Arena()
    anna, bert, carl = (arena.enter(name) for name in ("anna", "bert", "carl"))
    match = arena.begin(anna, bert)
    carl.say(Move(match, 0, 4))
    carl.say(Move("none", 0, 4))
    carl.say(Ready(match))
    assert [(each.code, each.match) for each in carl.all(Error)] == [
        (Code.NO_SUCH_MATCH, match),
        (Code.NO_SUCH_MATCH, "none"),
        (Code.NO_SUCH_MATCH, match),
    ]
    anna.say(Resign(match))
    anna.say(Ready(match))
    anna.say(Resign("long ago"))
    assert arena.of(SendMissedResult) == [
        SendMissedResult(anna.client, "anna", match),
        SendMissedResult(anna.client, "anna", "long ago"),
    ]


def test_messages_that_arrived_before_the_end_was_sent_are_answered_by_it() -> None:
    arena, anna, bert, match = in_match()
    arrived = arena.now
    arena.now += MS
    anna.say(Resign(match))
    for message in (Resign(match), Ready(match)):
        arena.give(MessageReceived(bert.client, message, arrived))
    assert not arena.of(SendMissedResult)
    assert len(bert.all(End)) == 1
    bert.say(Resign(match))
    assert arena.of(SendMissedResult) == [SendMissedResult(bert.client, "bert", match)]


def test_a_repeated_move_is_acknowledged_again_and_changes_nothing() -> None:
    arena, anna, _, match = in_match()
    eve = arena.enter(Hello("eve", role="spectator"))
    eve.say(Watch(match))
    anna.say(Move(match, 0, 4))
    before = len(arena.of(AppendEvent)), len(arena.of(PublishToTopic))
    anna.say(Move(match, 0, 4))
    assert len(anna.all(Accepted)) == 2
    assert (len(arena.of(AppendEvent)), len(arena.of(PublishToTopic))) == before


def test_thinking_is_bounded_before_it_is_stored() -> None:
    arena, anna, _, match = in_match()
    line = [4, 0, {"no": "move"}, "x" * 10_000]
    anna.say(Move(match, 0, 4, Thinking(depth=2, line=line)))
    assert arena.of(AppendEvent)[-1].event.thinking == Thinking(depth=2, line=[4, 0])
    assert arena.of(AnalysisMovesCut) == [AnalysisMovesCut(2)]


class Broken(TicTacToe):
    """A game of somebody's own that fails at some move."""

    def successor(self, position: Board, move: int) -> Board:
        if move == 8:
            raise RuntimeError("no idea")
        return super().successor(position, move)


class NoStart(TicTacToe):
    """A game of somebody's own that cannot be set up."""

    def start(self) -> Board:
        raise RuntimeError("no start")


def test_a_bug_in_one_match_voids_that_match_alone() -> None:
    arena = Arena()
    anna, bert = arena.enter(Hello("anna", matches=2)), arena.enter(Hello("bert", matches=2))
    other = arena.begin(anna, bert)
    terms = replace(spec("anna", "bert"), match="b" * 32, game=Broken())
    arena.give(MatchRequested(terms))
    for peer in (anna, bert):
        peer.say(Ready("b" * 32))
    anna.say(Move("b" * 32, 0, 8))
    (record,) = arena.records
    assert (record.match, record.result.reason) == ("b" * 32, EndReason.SERVER_FAULT)
    assert "no idea" in next(each.text for each in arena.of(LogLine) if each.level == "error")
    assert isinstance(arena.of(AppendEvent)[-1].event, ServerFailed)
    assert [peer.all(End)[0].reason for peer in (anna, bert)] == [EndReason.SERVER_FAULT] * 2
    anna.say(Move(other, 0, 8))
    assert anna.all(Accepted)[-1].match == other


def test_a_match_that_cannot_be_set_up_is_void_and_leaves_nothing() -> None:
    arena = Arena()
    arena.give(MatchRequested(replace(spec("anna", "bert"), game=NoStart())))
    assert [each.result.reason for each in arena.records] == [EndReason.SERVER_FAULT]
    assert [type(each) for each in arena.effects] == [OpenMatch, LogLine, CloseMatch]
    assert (arena.core.match_count, arena.core.find_bot("anna")) == (0, None)


# asked for by an event


def test_no_match_begins_in_a_core_that_drains() -> None:
    arena = Arena()
    anna, bert, carl = (arena.enter(name) for name in ("anna", "bert", "carl"))
    first = arena.begin(anna, bert)
    arena.play(anna, carl)
    arena.give(StartDraining())
    arena.play(carl, arena.enter("dora"))
    anna.say(Resign(first))
    arena.wait(10)
    assert [each.terms.match for each in arena.of(OpenMatch)] == [first]
    assert arena.core.match_count == 0


def test_a_match_waits_until_both_bots_can_take_it() -> None:
    arena = Arena()
    anna, bert, carl = (arena.enter(name) for name in ("anna", "bert", "carl"))
    first = arena.begin(anna, bert)
    second = arena.play(carl, anna)
    assert arena.core.match_count == 1
    bert.say(Resign(first))
    assert anna.all(Start)[-1].match == second
    assert arena.core.match_count == 1


def test_a_bot_that_is_away_is_given_no_more_matches_than_it_takes() -> None:
    arena, anna, *_ = in_match()
    anna.leave()
    arena.play("anna", "carl", ready=300)
    arena.play("dora", "emil", ready=300)
    arena.play("dora", "emil", ready=300)
    assert arena.core.match_count == 2
    arena.wait(300)
    assert arena.core.match_count == 2, "the second one of dora and emil, who have not come"


def test_a_match_waits_while_a_bot_takes_no_more() -> None:
    arena = Arena()
    anna, bert = arena.enter("anna"), arena.enter("bert")
    anna.say(Status(0))
    first = arena.play(anna, bert)
    assert arena.core.match_count == 0
    anna.say(Status(1))
    for peer in (anna, bert):
        peer.say(Ready(first))
    play_line(anna, bert)
    second = arena.play(anna, bert, ready=300)
    assert arena.core.match_count == 0
    anna.leave()
    bert.say(Ready(second))
    arena.wait(300)
    assert (arena.records[-1].result.winner, arena.records[-1].result.reason) == ("minnie", EndReason.NO_SHOW)


def test_a_match_that_waits_can_be_withdrawn_and_one_that_has_begun_goes_on() -> None:
    arena = Arena()
    anna, bert, carl = (arena.enter(name) for name in ("anna", "bert", "carl"))
    first = arena.begin(anna, bert)
    for match in (arena.play(carl, anna), first):
        arena.give(MatchWithdrawn(match))
    assert arena.core.match_count == 1
    bert.say(Resign(first))
    assert arena.core.match_count == 0
    assert [each.match for each in arena.records] == [first]


def test_engines_and_their_threads_are_told() -> None:
    arena = Arena()
    engine = EngineInfo("jamboree", {"depth": "8"}, 4)
    anna, bert = arena.enter(Hello("anna", engine=engine)), arena.enter("bert")
    arena.play(anna, bert)
    assert (anna.hear(Start).threads, bert.hear(Start).threads) == (4, 1)
    assert arena.of(OpenMatch)[0].terms.engines.maxie == engine


def test_clocks_start_again_for_players_that_did_not_get_their_turn() -> None:
    arena, anna, bert, _ = in_match("1+0", margin=50)
    bert.leave()
    arena.now += 900 * MS
    arena.give(StoreRecovered())
    arena.wait(1000)
    assert not arena.records
    assert [type(each) for each in anna.heard[-2:]] == [Start, Turn]
    answer(anna, 4)
    assert anna.all(Accepted)[0].spent_ms <= 1000
    assert any(isinstance(each.event, PlayerDisconnected) for each in arena.of(AppendEvent))
    assert isinstance(arena.of(AppendEvent)[0].event, MatchOpened)
    assert arena.of(SaveSession)
