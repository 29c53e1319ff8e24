"""Spectators and listings: each edge gets one copy, and no analysis is visible before the reply to its move."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from arena.protocol.codes import EndReason, ErrorCode
from arena.protocol.messages import (
    Accept,
    Browse,
    Challenge,
    ClientMessage,
    ConnectionStatus,
    Decline,
    End,
    Error,
    Hello,
    Listing,
    Move,
    Ready,
    Resign,
    Thought,
    Turn,
    Unwatch,
    Update,
    View,
    Watch,
    Welcome,
    Withdraw,
)
from arena.protocol.values import Thinking
from arena.server.core.effects import LOBBY_LISTING_TOPIC, PublishToTopic, SendToClient
from arena.server.core.limits import ServerLimits
from arena.server.core.lobby_listing import MIN_LOBBY_LISTING_INTERVAL_NS
from arena.server.core.public_view import find_first_hidden_ply
from arena.server.core.settings import AnalysisVisibility, HouseEngine
from tests.server.core.arena import LINE, MS, Arena, Peer, answer_turn, arena_in_match

VISIBILITIES: list[AnalysisVisibility] = ["reply", "end"]


def spectator(arena: Arena, name: str = "eve", edge: int = 0) -> Peer:
    return arena.connect(Hello(name, role="spectator"), edge=edge)


def test_a_spectator_sees_a_match_from_its_middle_to_its_end() -> None:
    arena = Arena()
    anna, bert, eve = arena.connect("anna"), arena.connect("bert"), spectator(arena)
    match = arena.begin_match(anna, bert)
    for peer, cell in ((anna, 0), (bert, 3)):
        answer_turn(peer, cell)
    eve.send(Watch(match))
    view = eve.receive(View)
    assert ([each.move for each in view.moves], view.mover, view.players.maxie) == ([0, 3], "maxie", "anna")
    for peer, cell in ((anna, 1), (bert, 4), (anna, 2)):
        answer_turn(peer, cell)
    news = eve.pop_unread()
    assert [(each.ply, each.played.move) for each in news if isinstance(each, Update)] == [
        (2, 1),
        (3, 4),
        (4, 2),
    ]
    assert isinstance(news[-1], End)
    assert (news[-1].winner, news[-1].moves) == ("maxie", list(LINE))
    assert news[-1] == anna.all(End)[0]


def test_each_edge_with_a_spectator_gets_one_copy() -> None:
    arena, anna, bert, match = arena_in_match()
    crowd = [spectator(arena, f"eve {n}", edge=1 + n % 2) for n in range(10)]
    for peer in crowd:
        peer.send(Watch(match))
        peer.send(Watch(match))  # repeated, as by a client that has missed messages
    answer_turn(anna, 0)
    (published,) = arena.of(PublishToTopic)
    assert published.edge_numbers == (1, 2)
    for peer in crowd[::2]:
        peer.disconnect()
    answer_turn(bert, 3)
    assert arena.of(PublishToTopic)[-1].edge_numbers == (2,)
    for peer in crowd[1::2]:
        peer.send(Unwatch(match))
        peer.send(Unwatch(match))
    answer_turn(anna, 1)
    assert len(arena.of(PublishToTopic)) == 2


def test_a_match_that_is_over_cannot_be_watched() -> None:
    arena = Arena()
    anna, bert, eve = arena.connect("anna"), arena.connect("bert"), spectator(arena)
    match = arena.begin_match(anna, bert)
    anna.send(Resign(match))
    eve.send(Watch(match))
    error = eve.receive(Error)
    assert (error.code, error.match) == (ErrorCode.NO_SUCH_MATCH, match)


def test_the_limit_of_watched_matches_does_not_count_finished_ones() -> None:
    arena = Arena(limits=ServerLimits(watched=1))
    anna, bert, eve = (
        arena.connect(Hello("anna", matches=3)),
        arena.connect(Hello("bert", matches=3)),
        spectator(arena),
    )
    first, second = arena.begin_match(anna, bert), arena.begin_match(anna, bert)
    eve.send(Watch(first)).send(Watch(second))
    assert [type(each) for each in eve.pop_unread()] == [Welcome, View, Error]
    assert eve.all(Error)[0].code is ErrorCode.RATE_LIMITED
    anna.send(Resign(first))
    eve.send(Watch(second))
    assert eve.receive(View).match == second


def test_spectators_get_the_absent_players_and_the_remaining_grace_period() -> None:
    arena = Arena(reconnect_grace_ms=5_000)
    anna, bert, eve, fay = (
        arena.connect("anna"),
        arena.connect("bert"),
        spectator(arena),
        spectator(arena, "fay"),
    )
    match = arena.request_match(anna, bert)
    eve.send(Watch(match))
    bert.send(Ready(match))
    bert.disconnect()
    anna.send(Ready(match))  # the match begins although bert is absent
    assert [each.absent for each in eve.all(ConnectionStatus)] == [{"minnie": 5_000}]
    arena.wait(2_000)
    fay.send(Watch(match))
    assert (eve.all(View)[0].absent, fay.receive(View).absent) == (UNSET, {"minnie": 3_000})
    anna.disconnect()
    bert = bert.reconnect()
    assert [each.absent for each in fay.all(ConnectionStatus)] == [
        {"minnie": 3_000, "maxie": 5_000},
        {"maxie": 5_000},
    ]
    arena.wait(4_999)
    assert not fay.all(End), "the announced time is not over"
    arena.wait(1_000)
    end = fay.receive(End)
    assert (end.winner, end.reason) == ("minnie", EndReason.DISCONNECT)
    assert len(fay.all(ConnectionStatus)) == 2, "no connection status after the end"


@pytest.mark.parametrize(
    "message",
    [
        Ready("m"),
        Move("m", 0, 0),
        Resign("m"),
        Challenge(game="tictactoe"),
        Accept("c1"),
        Decline("c1"),
        Withdraw("c1"),
    ],
    ids=lambda message: type(message).__name__,
)
def test_a_spectator_neither_plays_nor_challenges(message: ClientMessage) -> None:
    eve = spectator(Arena())
    eve.send(message)
    assert eve.receive(Error).code is ErrorCode.NOT_A_PLAYER


@given(st.sampled_from(VISIBILITIES), st.integers(0, 500))
def test_the_analysis_of_the_newest_move_is_hidden_during_the_match(
    visibility: AnalysisVisibility, ply: int
) -> None:
    hidden = find_first_hidden_ply(visibility, ply)
    assert 0 <= hidden <= max(0, ply - 1), "the last move has no reply yet"
    assert hidden in (0, ply - 1)


def make_analysis(ply: int) -> Thinking:
    return Thinking(depth=ply + 1, value=float(ply), line=[LINE[ply]])


@pytest.mark.parametrize("visibility", VISIBILITIES)
def test_a_spectator_sees_no_analysis_before_the_reply_to_its_move(
    visibility: AnalysisVisibility,
) -> None:
    arena = Arena(analysis_visibility=visibility)
    anna, bert, second, third = (
        arena.connect("anna"),
        arena.connect("bert"),
        spectator(arena),
        spectator(arena, "fay"),
    )
    match = arena.begin_match(anna, bert)
    second.send(Watch(match))
    for ply, cell in enumerate(LINE[:-1]):
        mover = (anna, bert)[ply % 2]
        mover.receive(Turn)
        mover.send(Move(match, ply, cell, make_analysis(ply)))
        third.send(Watch(match))
        plies = [at for at, each in enumerate(third.all(View)[-1].moves) if each.thinking is not None]
        assert plies == (list(range(ply)) if visibility == "reply" else [])
        seen = [each.ply for each in second.all(Thought)]
        assert seen == plies
    anna.send(Move(match, 4, LINE[4], make_analysis(4)))
    assert {each.ply: each.thinking for each in second.all(Thought)} == {
        ply: make_analysis(ply) for ply in range(5)
    }, "all analysis is published at the end"
    assert isinstance(second.received[-1], End)
    assert not any(each.played.thinking for each in second.all(Update))


# listings


def test_a_browsing_client_gets_arrivals_matches_and_departures() -> None:
    arena = Arena(reconnect_grace_ms=100)
    eve = spectator(arena)
    eve.send(Browse())
    assert eve.receive(Listing).bots == []
    anna, bert = arena.connect(Hello("anna", program="ada 1")), arena.connect("bert")
    arena.wait(250)
    assert [(each.name, each.program) for each in eve.receive(Listing).bots] == [
        ("anna", "ada 1"),
        ("bert", ""),
    ]
    match = arena.begin_match(anna, bert)
    anna.send(Challenge(map="path4"))
    arena.wait(250)
    listing = eve.receive(Listing)
    assert [(each.match, each.game, each.map) for each in listing.matches] == [(match, "tictactoe", "")]
    assert [(each.challenger, each.map) for each in listing.challenges] == [("anna", "path4")]
    anna.send(Resign(match))
    anna.disconnect()
    arena.wait(250)
    listing = eve.receive(Listing)
    assert (listing.matches, listing.challenges, len(listing.bots)) == ([], [], 1)
    arena.wait(10_000)
    assert all(each.topic_name == LOBBY_LISTING_TOPIC for each in arena.of(PublishToTopic))
    assert len(arena.of(PublishToTopic)) <= 5, "no publication without a change"


def test_repeated_browse_messages_share_listings_which_are_published_four_times_a_second() -> None:
    arena = Arena()
    crowd = [spectator(arena, f"eve {number}") for number in range(8)]
    for number in range(100):
        for eve in crowd:
            before = len(eve.all(Listing))
            eve.send(Browse())
            assert len(eve.all(Listing)) == before + 1
        if number % 7 == 0:
            arena.connect(f"bot {number}")  # a change of the listing
        arena.wait(10)
    answers = [
        each.message
        for each in arena.effects
        if isinstance(each, SendToClient) and isinstance(each.message, Listing)
    ]
    assert len({id(each) for each in answers}) <= 2 * 1_000 * MS // MIN_LOBBY_LISTING_INTERVAL_NS + 1
    assert 0 < len(arena.of(PublishToTopic)) <= 1_000 * MS // MIN_LOBBY_LISTING_INTERVAL_NS
    arena.wait(250)
    assert [each.name for each in crowd[0].all(Listing)[-1].bots] == [
        f"bot {number}" for number in range(0, 100, 7)
    ]


def test_a_change_after_the_cached_listing_is_published_to_a_new_client() -> None:
    arena = Arena()
    spectator(arena, "eve").send(Browse()).disconnect()
    arena.connect("anna")
    fay = spectator(arena, "fay").send(Browse())
    assert fay.receive(Listing).bots == []
    arena.wait(250)
    assert [each.name for each in fay.receive(Listing).bots] == ["anna"]


def test_each_edge_with_a_browsing_client_gets_one_copy_of_the_listing() -> None:
    arena = Arena(limits=ServerLimits(watched=1))
    one, other = spectator(arena, "eve", edge=1), spectator(arena, "fay", edge=2)
    for eve in (one, other):
        eve.send(Browse()).send(Browse())
    match = arena.begin_match(arena.connect("anna"), arena.connect("bert"))
    one.send(Watch(match))
    assert one.receive(View).match == match, "the listing does not count as a watched match"
    arena.wait(250)
    assert arena.of(PublishToTopic)[-1].edge_numbers == (1, 2)
    other.disconnect()
    arena.connect("cleo")
    arena.wait(250)
    listings = [each for each in arena.of(PublishToTopic) if each.topic_name == LOBBY_LISTING_TOPIC]
    assert listings[-1].edge_numbers == (1,)
    arena.connect("dora")
    one.disconnect()
    arena.wait(250)
    assert [
        each for each in arena.of(PublishToTopic) if each.topic_name == LOBBY_LISTING_TOPIC
    ] == listings, "no client browses any more"


def test_house_engines_are_listed_even_if_they_are_not_connected() -> None:
    arena = Arena(house_engines=(HouseEngine("house-greedy", "greedy"),))
    arena.connect("anna")
    assert [(each.name, each.program, each.house) for each in arena.listing().bots] == [
        ("house-greedy", "greedy", True),
        ("anna", "", False),
    ]
    arena.connect(Hello("house-greedy", program="greedy 1", matches=4))
    assert [(each.name, each.program, each.house) for each in arena.listing().bots] == [
        ("house-greedy", "greedy 1", True),
        ("anna", "", False),
    ]
