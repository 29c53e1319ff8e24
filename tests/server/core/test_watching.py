"""Spectators and listings: one copy goes to an edge, and nobody sees what would help an opponent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from arena.protocol.codes import Code, EndReason
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
from arena.server.core.effects import LISTING_TOPIC, PublishToTopic, SendToClient
from arena.server.core.limits import HostLimits
from arena.server.core.listing import LISTING_INTERVAL_NS
from arena.server.core.public_view import find_first_hidden_ply
from arena.server.core.settings import AnalysisVisibility, HouseEngine
from tests.server.core.arena import LINE, MS, Arena, Peer, answer, in_match

VISIBILITIES: list[AnalysisVisibility] = ["reply", "end"]


def spectator(arena: Arena, name: str = "eve", edge: int = 0) -> Peer:
    return arena.enter(Hello(name, role="spectator"), edge=edge)


def test_a_spectator_sees_a_match_from_its_middle_to_its_end() -> None:
    arena = Arena()
    anna, bert, eve = arena.enter("anna"), arena.enter("bert"), spectator(arena)
    match = arena.begin(anna, bert)
    for peer, cell in ((anna, 0), (bert, 3)):
        answer(peer, cell)
    eve.say(Watch(match))
    view = eve.hear(View)
    assert ([each.move for each in view.moves], view.mover, view.players.maxie) == ([0, 3], "maxie", "anna")
    for peer, cell in ((anna, 1), (bert, 4), (anna, 2)):
        answer(peer, cell)
    news = eve.news()
    assert [(each.ply, each.played.move) for each in news if isinstance(each, Update)] == [
        (2, 1),
        (3, 4),
        (4, 2),
    ]
    assert isinstance(news[-1], End)
    assert (news[-1].winner, news[-1].moves) == ("maxie", list(LINE))
    assert news[-1] == anna.all(End)[0]


def test_one_copy_goes_to_each_edge_where_somebody_watches() -> None:
    arena, anna, bert, match = in_match()
    crowd = [spectator(arena, f"eve {n}", edge=1 + n % 2) for n in range(10)]
    for peer in crowd:
        peer.say(Watch(match))
        peer.say(Watch(match))  # again, as one does that has missed something
    answer(anna, 0)
    (published,) = arena.of(PublishToTopic)
    assert published.edges == (1, 2)
    for peer in crowd[::2]:
        peer.leave()
    answer(bert, 3)
    assert arena.of(PublishToTopic)[-1].edges == (2,)
    for peer in crowd[1::2]:
        peer.say(Unwatch(match))
        peer.say(Unwatch(match))
    answer(anna, 1)
    assert len(arena.of(PublishToTopic)) == 2


def test_a_match_that_is_over_cannot_be_watched() -> None:
    arena = Arena()
    anna, bert, eve = arena.enter("anna"), arena.enter("bert"), spectator(arena)
    match = arena.begin(anna, bert)
    anna.say(Resign(match))
    eve.say(Watch(match))
    error = eve.hear(Error)
    assert (error.code, error.match) == (Code.NO_SUCH_MATCH, match)


def test_so_many_matches_are_watched_at_once_and_those_that_are_over_do_not_count() -> None:
    arena = Arena(limits=HostLimits(watched=1))
    anna, bert, eve = (
        arena.enter(Hello("anna", matches=3)),
        arena.enter(Hello("bert", matches=3)),
        spectator(arena),
    )
    first, second = arena.begin(anna, bert), arena.begin(anna, bert)
    eve.say(Watch(first)).say(Watch(second))
    assert [type(each) for each in eve.news()] == [Welcome, View, Error]
    assert eve.all(Error)[0].code is Code.RATE_LIMITED
    anna.say(Resign(first))
    eve.say(Watch(second))
    assert eve.hear(View).match == second


def test_a_spectator_learns_who_is_absent_and_how_long_the_match_waits() -> None:
    arena = Arena(grace_ms=5_000)
    anna, bert, eve, fay = arena.enter("anna"), arena.enter("bert"), spectator(arena), spectator(arena, "fay")
    match = arena.play(anna, bert)
    eve.say(Watch(match))
    bert.say(Ready(match))
    bert.leave()
    anna.say(Ready(match))  # which begins the match, without the player who is gone
    assert [each.absent for each in eve.all(ConnectionStatus)] == [{"minnie": 5_000}]
    arena.wait(2_000)
    fay.say(Watch(match))
    assert (eve.all(View)[0].absent, fay.hear(View).absent) == (UNSET, {"minnie": 3_000})
    anna.leave()
    bert = bert.back()
    assert [each.absent for each in fay.all(ConnectionStatus)] == [
        {"minnie": 3_000, "maxie": 5_000},
        {"maxie": 5_000},
    ]
    arena.wait(4_999)
    assert not fay.all(End), "the match waits for as long as it said"
    arena.wait(1_000)
    end = fay.hear(End)
    assert (end.winner, end.reason) == ("minnie", EndReason.DISCONNECT)
    assert len(fay.all(ConnectionStatus)) == 2, "the end says what became of it"


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
    eve.say(message)
    assert eve.hear(Error).code is Code.NOT_A_PLAYER


@given(st.sampled_from(VISIBILITIES), st.integers(0, 500))
def test_the_newest_move_is_a_secret_until_the_match_is_over(
    visibility: AnalysisVisibility, ply: int
) -> None:
    hidden = find_first_hidden_ply(visibility, ply)
    assert 0 <= hidden <= max(0, ply - 1), "the last move has not been answered"
    assert hidden in (0, ply - 1)


def thought_of(ply: int) -> Thinking:
    return Thinking(depth=ply + 1, value=float(ply), line=[LINE[ply]])


@pytest.mark.parametrize("visibility", VISIBILITIES)
def test_a_players_second_connection_does_not_see_the_plan_of_the_opponent(
    visibility: AnalysisVisibility,
) -> None:
    arena = Arena(analysis_visibility=visibility)
    anna, bert, second, third = (
        arena.enter("anna"),
        arena.enter("bert"),
        spectator(arena),
        spectator(arena, "fay"),
    )
    match = arena.begin(anna, bert)
    second.say(Watch(match))
    for ply, cell in enumerate(LINE[:-1]):
        mover = (anna, bert)[ply % 2]
        mover.hear(Turn)
        mover.say(Move(match, ply, cell, thought_of(ply)))
        third.say(Watch(match))
        plies = [at for at, each in enumerate(third.all(View)[-1].moves) if each.thinking is not None]
        assert plies == (list(range(ply)) if visibility == "reply" else [])
        seen = [each.ply for each in second.all(Thought)]
        assert seen == plies
    anna.say(Move(match, 4, LINE[4], thought_of(4)))
    assert {each.ply: each.thinking for each in second.all(Thought)} == {
        ply: thought_of(ply) for ply in range(5)
    }, "all is told in the end"
    assert isinstance(second.heard[-1], End)
    assert not any(each.played.thinking for each in second.all(Update))


# listings


def test_a_browsing_client_learns_of_arrivals_matches_and_departures() -> None:
    arena = Arena(grace_ms=100)
    eve = spectator(arena)
    eve.say(Browse())
    assert eve.hear(Listing).bots == []
    anna, bert = arena.enter(Hello("anna", program="ada 1")), arena.enter("bert")
    arena.wait(250)
    assert [(each.name, each.program) for each in eve.hear(Listing).bots] == [("anna", "ada 1"), ("bert", "")]
    match = arena.begin(anna, bert)
    anna.say(Challenge(map="path4"))
    arena.wait(250)
    listing = eve.hear(Listing)
    assert [(each.match, each.game, each.map) for each in listing.matches] == [(match, "tictactoe", "")]
    assert [(each.challenger, each.map) for each in listing.challenges] == [("anna", "path4")]
    anna.say(Resign(match))
    anna.leave()
    arena.wait(250)
    listing = eve.hear(Listing)
    assert (listing.matches, listing.challenges, len(listing.bots)) == ([], [], 1)
    arena.wait(10_000)
    assert all(each.topic == LISTING_TOPIC for each in arena.of(PublishToTopic))
    assert len(arena.of(PublishToTopic)) <= 5, "nothing has changed"


def test_repeated_requests_are_answered_at_once_with_one_listing_and_news_come_four_times_a_second() -> None:
    arena = Arena()
    crowd = [spectator(arena, f"eve {number}") for number in range(8)]
    for number in range(100):
        for eve in crowd:
            before = len(eve.all(Listing))
            eve.say(Browse())
            assert len(eve.all(Listing)) == before + 1
        if number % 7 == 0:
            arena.enter(f"bot {number}")  # a change to be told of
        arena.wait(10)
    answers = [
        each.message
        for each in arena.effects
        if isinstance(each, SendToClient) and isinstance(each.message, Listing)
    ]
    assert len({id(each) for each in answers}) <= 2 * 1_000 * MS // LISTING_INTERVAL_NS + 1
    assert 0 < len(arena.of(PublishToTopic)) <= 1_000 * MS // LISTING_INTERVAL_NS
    arena.wait(250)
    assert [each.name for each in crowd[0].all(Listing)[-1].bots] == [
        f"bot {number}" for number in range(0, 100, 7)
    ]


def test_a_change_before_the_first_request_is_told_although_the_answer_is_older() -> None:
    arena = Arena()
    spectator(arena, "eve").say(Browse()).leave()
    arena.enter("anna")
    fay = spectator(arena, "fay").say(Browse())
    assert fay.hear(Listing).bots == []
    arena.wait(250)
    assert [each.name for each in fay.hear(Listing).bots] == ["anna"]


def test_one_copy_of_the_listing_goes_to_each_edge_where_somebody_browses() -> None:
    arena = Arena(limits=HostLimits(watched=1))
    one, other = spectator(arena, "eve", edge=1), spectator(arena, "fay", edge=2)
    for eve in (one, other):
        eve.say(Browse()).say(Browse())
    match = arena.begin(arena.enter("anna"), arena.enter("bert"))
    one.say(Watch(match))
    assert one.hear(View).match == match, "the listing is no match that is watched"
    arena.wait(250)
    assert arena.of(PublishToTopic)[-1].edges == (1, 2)
    other.leave()
    arena.enter("cleo")
    arena.wait(250)
    listings = [each for each in arena.of(PublishToTopic) if each.topic == LISTING_TOPIC]
    assert listings[-1].edges == (1,)
    arena.enter("dora")
    one.leave()
    arena.wait(250)
    assert [each for each in arena.of(PublishToTopic) if each.topic == LISTING_TOPIC] == listings, (
        "nobody browses any more"
    )


def test_house_engines_are_listed_whether_or_not_they_are_connected() -> None:
    arena = Arena(house=(HouseEngine("house-greedy", "greedy"),))
    arena.enter("anna")
    assert [(each.name, each.program, each.house) for each in arena.listing().bots] == [
        ("house-greedy", "greedy", True),
        ("anna", "", False),
    ]
    arena.enter(Hello("house-greedy", program="greedy 1", matches=4))
    assert [(each.name, each.program, each.house) for each in arena.listing().bots] == [
        ("house-greedy", "greedy 1", True),
        ("anna", "", False),
    ]
