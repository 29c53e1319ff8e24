"""server.arena.office: one server arranges, and what bots say of challenges finds its way there."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.match.terms import from_json, to_json
from arena.protocol.codes import Code
from arena.protocol.messages import (
    Accept,
    Challenge,
    Challenged,
    ChallengeOver,
    Error,
    ServerMessage,
)
from arena.protocol.timecontrol import TimeControl
from arena.server.arena.messages import Gone, Here, Open, Place, Told, Wants
from arena.server.arena.office import MOST_PATIENT
from arena.server.lobby.accounts import Refused
from arena.server.store.arena import Office as Held
from tests.server.arena.arenas import until
from tests.server.arena.ends import Bot, alone, linked, told
from tests.server.arena.offices import Server
from tests.server.matches import spec

ASKED = Challenge("bert", game="tictactoe")


def challenged(id: str = "c1", challenger: str = "anna", opponent: str = "bert") -> Challenged:
    return Challenged(
        id, challenger, opponent, "tictactoe", "", TimeControl(1000, 0), None, rated=True, expires_ms=9
    )


def ids(messages: Sequence[object]) -> list[str]:
    """Which challenges are told; each told of how long it is open yet."""
    return [each.challenge for each in messages if isinstance(each, Challenged)]


def overs(bot: Bot) -> list[ServerMessage]:
    return [each for each in bot.heard if isinstance(each, ChallengeOver)]


async def test_a_server_by_itself_is_always_in_office_and_tells_nobody() -> None:
    server = Server(alone(), alone=True)
    anna, bert = server.bot("anna"), server.bot("bert")
    server.say("anna", ASKED)
    (asked,) = server.office.listed()
    assert ids(bert.heard) == [asked.challenge]
    server.say("bert", Accept(asked.challenge))
    assert [{each.players.maxie, each.players.minnie} for each in server.played] == [{"anna", "bert"}]
    assert [each.outcome for each in overs(anna) if isinstance(each, ChallengeOver)] == ["accepted"]
    assert server.office.snapshot() == []


async def test_what_a_bot_says_is_brought_to_who_is_in_office_and_done_there() -> None:
    north, south = Server(alone("north")), Server(alone("south"))
    to_south, to_north = north.end.to("south"), south.end.to("north")
    north.bot("anna")
    for server in (north, south):
        server.hold(1, "south")
    north.say("anna", ASKED)
    (wants,) = told(to_south)
    assert wants == Wants("anna", 1, ASKED)
    south.guest_of(to_north, "anna")
    bert = south.bot("bert")
    south.office.wanted(to_north, wants)
    (asked,) = south.office.listed()
    assert ids(bert.heard) == [asked.challenge]
    said, opened = told(to_north)
    assert isinstance(said, Told)
    assert isinstance(opened, Open)
    assert (said.name, said.entry, ids([said.message])) == ("anna", 1, [asked.challenge])
    assert ids(opened.challenges) == [asked.challenge]
    north.office.opened(to_south, Open([asked]))
    assert north.office.listed() == [asked]
    assert [ids(each.challenges) for each in south.office.snapshot()] == [[asked.challenge]]
    assert north.office.snapshot() == []


async def test_what_is_wrong_is_told_to_a_bot_wherever_it_is() -> None:
    south = Server(alone("south"))
    link = south.end.to("north")
    south.hold(1, "south")
    south.guest_of(link, "anna")
    south.office.wanted(link, Wants("anna", 1, ASKED))
    (said,) = told(link)
    assert isinstance(said, Told)
    assert isinstance(said.message, Error)
    assert said.message.code is Code.BAD_CHALLENGE
    south.bot("carl")
    with pytest.raises(Refused):
        south.say("carl", ASKED)


async def test_what_was_said_on_a_connection_of_before_is_not_done() -> None:
    south = Server(alone("south"))
    link = south.end.to("north")
    south.hold(1, "south")
    south.guest_of(link, "anna", entry=5)
    south.bot("bert")
    for wants in (Wants("anna", 4, ASKED), Wants("emil", 5, ASKED)):
        south.office.wanted(link, wants)
    assert south.office.listed() == []


async def test_who_is_taken_for_the_matchmaker_and_is_no_more_passes_it_on() -> None:
    south = Server(alone("south"))
    north, west = south.end.to("north"), south.end.to("west")
    south.guest_of(north, "anna")
    south.hold(2, "west")
    south.office.wanted(north, Wants("anna", 1, ASKED))
    assert told(west) == [Wants("anna", 1, ASKED)]


async def test_while_nobody_is_in_office_what_bots_say_waits_and_not_without_bounds() -> None:
    server = Server(alone())
    link = server.end.to("south")
    anna = server.bot("anna")
    server.hold(1, "")
    for _ in range(MOST_PATIENT + 1):
        server.say("anna", ASKED)
    assert [each.code for each in anna.heard if isinstance(each, Error)] == [Code.RATE_LIMITED]
    assert told(link) == []
    server.hold(2, "south")
    assert told(link) == [Wants("anna", 1, ASKED)] * MOST_PATIENT


async def test_the_office_is_held_only_as_long_as_the_store_has_said() -> None:
    server = Server(alone())
    server.office.hold(Held(1, "north", 1), monotonic() - 0.001)
    here = [server.office.here]
    for term, holder in ((1, "north"), (2, "south")):
        server.hold(term, holder)
        here.append(server.office.here)
    assert here == [False, True, False]
    assert server.office.holder == "south"


async def test_bots_are_told_to_challenge_again_when_another_server_arranges() -> None:
    north = Server(alone("north"))
    south = north.end.to("south")
    north.end.to("west")
    anna, carl = north.bot("anna"), north.bot("carl")
    north.hold(1, "south")
    north.office.opened(south, Open([challenged(), challenged("c2", "emil", "dora")]))
    north.hold(1, "")
    assert overs(anna) == []
    assert len(north.office.listed()) == 2  # whoever it was may come back
    north.hold(2, "west")
    (over,) = overs(anna)
    assert isinstance(over, ChallengeOver)
    assert (over.challenge, over.outcome) == ("c1", "withdrawn")
    assert "challenge again" in over.detail
    assert overs(carl) == []
    assert north.office.listed() == []


async def test_who_takes_the_office_again_has_kept_its_challenges() -> None:
    north = Server(alone("north"))
    south = north.end.to("south")
    anna = north.bot("anna")
    north.hold(1, "south")
    north.office.opened(south, Open([challenged()]))
    north.hold(1, "")
    north.hold(2, "south")
    assert overs(anna) == []
    assert north.office.listed() == [challenged()]
    north.hold(3, "south", 2)  # it was started again, and has nothing of before
    assert [each.challenge for each in overs(anna) if isinstance(each, ChallengeOver)] == ["c1"]


async def test_the_challenges_of_who_has_taken_the_office_are_known_though_the_store_says_so_later() -> None:
    north = Server(alone("north"))
    south, west = north.end.to("south"), north.end.to("west")
    north.hold(1, "south")
    north.office.opened(south, Open([challenged("c1")]))
    north.office.opened(west, Open([challenged("c2")]))
    assert north.office.listed() == [challenged("c1")]
    north.hold(2, "west")
    assert north.office.listed() == [challenged("c2")]


async def test_who_loses_the_office_keeps_no_challenges_and_tells_its_own_bots() -> None:
    north = Server(alone("north"))
    link = north.end.to("south")
    anna = north.bot("anna")
    north.guest_of(link, "bert")
    north.hold(1, "north")
    north.say("anna", ASKED)
    (asked,) = north.office.listed()
    told(link)
    north.hold(2, "south")
    assert [each.challenge for each in overs(anna) if isinstance(each, ChallengeOver)] == [asked.challenge]
    assert told(link) == []  # the others tell theirs
    north.hold(3, "north")
    assert north.office.listed() == []
    north.office.tell_open()
    assert told(link) == [Open([])]


async def test_an_answer_to_a_challenge_of_the_matchmaker_before_is_to_none_of_the_next() -> None:
    north, south = Server(alone("north")), Server(alone("south"))
    for server in (north, south):
        server.bot("anna")
        server.bot("bert")
    north.hold(1, "north")
    north.say("anna", ASKED)
    (before,) = north.office.listed()
    south.hold(2, "south")
    south.say("anna", Challenge("bert", game="riskless", map="path4"))
    with pytest.raises(Refused) as refused:
        south.say("bert", Accept(before.challenge))
    assert refused.value.code is Code.NO_SUCH_CHALLENGE
    assert south.played == []


async def test_who_comes_and_goes_is_told_to_all_and_its_name_is_free_again() -> None:
    north = Server(alone("north"))
    link = north.end.to("south")
    north.bot("anna")
    member = north.lobby.member("anna")
    north.office.came(member, fresh=True)
    north.office.tell_standing(member, 2)
    north.office.left(member)
    came, changed, gone = told(link)
    assert isinstance(came, Here)
    assert isinstance(changed, Here)
    assert (came.again, changed.again, changed.hello.quota) == (False, True, 2)
    assert gone == Gone("anna", 1, None)
    assert north.names.released == [("anna", 1)]


async def test_a_match_is_played_where_both_players_are() -> None:
    async with linked("north", "south", "west") as ends:
        north = Server(ends[0])
        south, west = (north.end.links.find(name) for name in ("south", "west"))
        assert south is not None
        assert west is not None
        north.hold(7, "north")
        for link, names in ((south, ("anna", "bert")), (west, ("carl",))):
            for name in names:
                north.guest_of(link, name)
        for name in ("dora", "emil"):
            north.bot(name)
        assert all(link.beat is not None for link in north.end.links.all)
        terms = spec("anna", "bert")
        north.office.start(terms)
        assert north.played == []
        assert terms.match in north.elsewhere
        at_home = spec("dora", "emil")
        north.load = (4, 3, True)
        north.office.start(at_home)
        assert north.played == [at_home]
        north.load = (4, 0, False)  # it takes none any more
        north.guest_of(south, "fred")
        north.office.start(spec("fred", "carl"))
        assert len(north.played) == 1
        await until(lambda: sum(isinstance(each, Place) for end in ends for each in end.heard) == 2)
        placed = next(each for each in ends[1].heard if isinstance(each, Place))
        assert (placed.term, to_json(from_json(placed.terms))) == (7, to_json(terms))


@given(st.integers(0, 5), st.integers(0, 5))
def test_a_match_is_begun_only_for_who_is_not_out_of_office(term: int, placed: int) -> None:
    server = Server(alone())
    server.hold(term, "south")
    assert server.office.obeys(Place(placed, "{}")) is (placed >= term)
