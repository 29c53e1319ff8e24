"""server.arena.office: how a bot stands is told by whoever arranges, and after all that it was given has begun."""

from __future__ import annotations

from arena.match.events import Opened, Tell
from arena.match.referee import Referee
from arena.protocol.messages import Standing
from arena.server.arena.messages import Given, Here, Settles
from arena.server.arena.remote import RemoteSeat
from tests.server.arena.ends import Bot, alone, told
from tests.server.arena.offices import Server
from tests.server.matches import spec


def standings(bot: Bot) -> list[int | None]:
    """How many more matches the bot was told that it takes, each time."""
    return [each.quota for each in bot.heard if isinstance(each, Standing)]


async def test_how_a_bot_stands_is_told_at_once_where_it_asks_for_nothing_else() -> None:
    north = Server(alone("north"))
    link = north.end.to("south")
    anna = north.bot("anna")
    north.hold(1, "south")
    north.office.tell_standing(north.lobby.member("anna"))
    assert standings(anna) == [None]
    assert told(link) == []


async def test_who_takes_no_more_is_answered_when_the_matchmaker_has_said_what_it_has_given() -> None:
    north, south = Server(alone("north")), Server(alone("south"))
    to_south, to_north = north.end.to("south"), south.end.to("north")
    anna = north.bot("anna")
    for server in (north, south):
        server.hold(1, "south")
    north.office.tell_standing(north.lobby.member("anna"), 0)
    here, settles = told(to_south)
    assert isinstance(here, Here)
    assert here.hello.quota == 0
    assert settles == Settles("anna", 1, 1)
    assert isinstance(settles, Settles)
    south.guest_of(to_north, "anna")
    south.office.settle(to_north, settles)
    (given,) = told(to_north)
    assert given == Given("anna", 1, 1, [])
    assert isinstance(given, Given)
    assert standings(anna) == []
    north.office.given(to_south, given)
    (job,) = north.jobs
    await job()
    assert standings(anna) == [0]


async def test_the_matchmaker_names_what_it_has_given_a_bot_and_is_to_be_played_elsewhere() -> None:
    south = Server(alone("south"))
    north, west = south.end.to("north"), south.end.to("west")
    south.hold(1, "south")
    for name in ("anna", "bert"):
        south.guest_of(north, name, entry=4)
    terms = spec("anna", "bert")
    south.elsewhere.place(west, terms)
    south.office.settle(north, Settles("anna", 4, 9))
    south.office.settle(north, Settles("anna", 3, 8))  # of a connection of before
    south.office.settle(north, Settles("carl", 4, 7))
    south.hold(2, "west")
    south.office.settle(north, Settles("anna", 4, 10))
    assert told(north) == [Given("anna", 4, 9, [terms.match])]


async def test_where_matches_are_arranged_a_bot_is_answered_after_the_start_of_what_is_played_elsewhere() -> (
    None
):
    south = Server(alone("south"))
    west = south.end.to("west")
    south.hold(1, "south")
    anna = south.bot("anna")
    south.bot("bert")
    member = south.lobby.member("anna")
    terms = spec("anna", "bert")
    south.elsewhere.place(west, terms)
    south.office.tell_standing(member, 0)
    assert standings(anna) == []
    ((seat, player),) = member.matches.values()
    assert isinstance(seat, RemoteSeat)
    assert not seat.introduced(player)
    begun = Referee(terms).handle(Opened(), 0)
    seat.tell(next(each.message for each in begun if isinstance(each, Tell) and each.player is player), 0)
    (job,) = south.jobs
    await job()
    assert [type(each).__name__ for each in anna.heard] == ["Start", "Standing"]
