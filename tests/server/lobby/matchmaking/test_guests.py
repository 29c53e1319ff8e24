"""What guests may ask for."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from protocol.codes import Code
from protocol.messages import Accept, Challenge, Challenged, ChallengeOver, Error, Hello, Present, Withdraw
from protocol.timecontrol import TimeControl
from server.host import Host
from server.lobby.matchmaking.guests import AT_ONCE, is_guest, objection
from tests.server.peer import dial, enter

HOUSE = {"house-greedy"}
MAPS = {"m2"}
FINE = Challenge("house-greedy", time_control=TimeControl.parse("300+3"), rated=False)


@pytest.mark.parametrize("name", ["guest-1", "guest-123456"])
def test_names_of_guests(name: str) -> None:
    assert is_guest(name)


@pytest.mark.parametrize(
    "name", ["guest-", "guest-1234567", "guest-x", "guest", "ada", "guest-1\n", "guest-٣"]
)
def test_other_names(name: str) -> None:
    assert not is_guest(name)


def test_a_match_with_the_house_is_fine() -> None:
    assert objection(FINE, HOUSE, MAPS) is None
    assert objection(replace(FINE, game="tictactoe", map="anything"), HOUSE, MAPS) is None
    assert objection(replace(FINE, time_control=TimeControl.parse("60/move")), HOUSE, MAPS) is None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"opponent": "ada"}, "own bots only"),
        ({"opponent": ""}, "own bots only"),
        ({"rated": True}, "not rated"),
        ({"map": "grid:40x40"}, "shipped maps"),
        ({"time_control": TimeControl.parse("61/move")}, "60 s a move"),
        ({"time_control": TimeControl.parse("1801+0")}, "at most 1800+30"),
        ({"time_control": TimeControl.parse("1+31")}, "at most 1800+30"),
    ],
)
def test_what_a_guest_may_not_ask_for(change: dict[str, Any], told: str) -> None:
    why = objection(replace(FINE, **change), HOUSE, MAPS)
    assert why is not None
    assert told in why


async def test_a_guest_bothers_nobody_but_the_house(host: Host) -> None:
    host.lobby.accounts.guests = True
    host.lobby.house = {"house-greedy": Present("house-greedy", "greedy", 0, 4, house=True)}
    async with enter(host, "anna") as anna, dial(host.url) as guest:
        await guest.hello("guest-7", matches=20)
        member = host.lobby.find("guest-7")
        assert member is not None
        assert (member.capacity, member.takes.pool) == (1, False)
        await guest.say(replace(FINE, opponent="anna"))
        assert (await guest.hear(Error)).code is Code.BAD_CHALLENGE
        await anna.say(Challenge(game="tictactoe"))
        await guest.say(Accept("c1"))
        assert (await guest.hear(Error)).code is Code.BAD_CHALLENGE


async def test_all_guests_together_may_ask_for_so_many_matches(host: Host) -> None:
    host.lobby.accounts.guests = True
    host.lobby.house = {"house-greedy": Present("house-greedy", "greedy", 0, 4, house=True)}
    async with dial(host.url) as one, dial(host.url) as other:
        await one.hello("guest-1")
        await other.hello("guest-2")
        for number in range(200):
            peer = (one, other)[number % 2]
            await peer.say(FINE)
            match await peer.next():
                case Challenged(challenge=challenge):
                    await peer.say(Withdraw(challenge))
                    assert (await peer.hear(ChallengeOver)).outcome == "withdrawn"
                case answer:
                    break
        assert isinstance(answer, Error)
        assert answer.code is Code.RATE_LIMITED
        assert "guests" in answer.detail
        assert number >= AT_ONCE


@pytest.mark.parametrize(("guests", "name"), [(False, "guest-1"), (True, "ada")])
async def test_without_guests_or_with_another_name_a_token_is_needed(
    host: Host, guests: bool, name: str
) -> None:
    host.lobby.accounts.guests = guests
    async with dial(host.url) as peer:
        await peer.say(Hello(name))
        assert (await peer.hear(Error)).code is Code.BAD_TOKEN


async def test_a_guests_name_that_has_a_token_is_no_guests(host: Host) -> None:
    host.lobby.accounts.guests = True
    host.issue_token("guest-1")
    async with dial(host.url) as peer:
        await peer.say(Hello("guest-1"))
        assert (await peer.hear(Error)).code is Code.BAD_TOKEN
