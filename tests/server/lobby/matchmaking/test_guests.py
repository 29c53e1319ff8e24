"""What guests may ask for."""

from __future__ import annotations

import asyncio
import base64
import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from arena.protocol.codes import Code
from arena.protocol.messages import (
    Accept,
    Challenge,
    Challenged,
    ChallengeOver,
    End,
    Error,
    Hello,
    Resign,
    Start,
    Withdraw,
)
from arena.protocol.timecontrol import TimeControl
from arena.server.host import Host, open_host
from arena.server.lobby.house import HousePlan
from arena.server.lobby.matchmaking.guests import BURST, GuestMatches, is_guest, objection
from arena.server.lobby.roster import HouseBot
from tests.server.peer import dial, enter

HOUSE = {"house-greedy"}
MAPS = {"m2"}
SECOND = 1_000_000_000
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
        ({"time_control": TimeControl.parse("901+0")}, "at most 900+10"),
        ({"time_control": TimeControl.parse("1+11")}, "at most 900+10"),
    ],
)
def test_what_a_guest_may_not_ask_for(change: dict[str, Any], told: str) -> None:
    why = objection(replace(FINE, **change), HOUSE, MAPS)
    assert why is not None
    assert told in why


@asynccontextmanager
async def home(tmp_path: Path, *, guests: bool = True) -> AsyncIterator[Host]:
    """A server with one house bot, which takes longer to connect than any test lasts."""
    slow = tmp_path / "slow.py"
    slow.write_text("import time\n\ntime.sleep(60)\n")
    async with open_host(house=HousePlan([HouseBot("house-greedy", str(slow))], guests=guests)) as host:
        yield host


async def test_a_guest_bothers_nobody_but_the_house(tmp_path: Path) -> None:
    async with home(tmp_path) as host, enter(host, "anna") as anna, dial(host.url) as guest:
        await guest.hello("guest-7", matches=20)
        member = host.lobby.find("guest-7")
        assert member is not None
        assert (member.capacity, member.takes.pool) == (1, False)
        await guest.say(replace(FINE, opponent="anna"))
        assert (await guest.hear(Error)).code is Code.BAD_CHALLENGE
        await anna.say(Challenge(game="tictactoe"))
        await guest.say(Accept("c1"))
        assert (await guest.hear(Error)).code is Code.BAD_CHALLENGE


async def test_the_guests_of_one_address_may_ask_for_so_many_matches(tmp_path: Path) -> None:
    async with home(tmp_path) as host, dial(host.url) as one, dial(host.url) as other:
        await one.hello("guest-1")
        await other.hello("guest-2")
        for number in range(20):
            peer = (one, other)[number % 2]
            await peer.say(FINE)
            answer = await peer.next()
            if not isinstance(answer, Challenged):
                break
            await peer.say(Withdraw(answer.challenge))
            assert (await peer.hear(ChallengeOver)).outcome == "withdrawn"
        assert isinstance(answer, Error)
        assert answer.code is Code.RATE_LIMITED
        assert "from your address" in answer.detail
        assert number >= 4


def test_whoever_asks_without_end_leaves_matches_to_others() -> None:
    asked = GuestMatches(0)
    refused = 0
    for second in range(100):
        refused += sum(asked.refusal("192.0.2.1", second * SECOND) is not None for _ in range(50))
        assert asked.refusal(f"192.0.2.{second + 2}", second * SECOND) is None
    assert refused > 4_900


def test_of_all_guests_so_many_matches_begin_in_a_second() -> None:
    asked = GuestMatches(0)
    assert [asked.may_begin(0) for _ in range(BURST + 5)] == [True] * BURST + [False] * 5
    assert sum(asked.may_begin(tenth * SECOND // 10) for tenth in range(100)) == pytest.approx(10, abs=1)


async def test_a_guests_log_is_for_its_own_session(tmp_path: Path) -> None:
    async with home(tmp_path) as host:
        async with dial(host.url) as house, dial(host.url) as guest:
            await house.hello("house-greedy", host.issue_token("house-greedy"), matches=4, pool=False)
            await guest.hello("guest-0")
            await guest.say(FINE)
            await house.say(Accept((await house.hear(Challenged)).challenge))
            match = (await guest.hear(Start)).match
            assert (await get_log(host, match, "guest-0", ""))[0] == 401
            assert (await get_log(host, match, "guest-0", "x" * 32))[0] == 401
            status, log = await get_log(host, match, "guest-0", guest.welcome.session)
            assert (status, json.loads(log)["match"]) == (200, match)
            await guest.say(Resign(match))
            await guest.hear(End)
        async with dial(host.url) as later:
            # Somebody else has the name now.
            await later.hello("guest-0")
            assert (await get_log(host, match, "guest-0", later.welcome.session))[0] == 404


async def get_log(host: Host, match: str, name: str, secret: str) -> tuple[int, str]:
    credentials = base64.b64encode(f"{name}:{secret}".encode()).decode()
    url = f"{host.url.replace('ws', 'http', 1)}/api/log/{match}"
    request = urllib.request.Request(url, headers={"Authorization": f"Basic {credentials}"})

    def fetch() -> tuple[int, str]:
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    return await asyncio.to_thread(fetch)


@pytest.mark.parametrize(("guests", "name"), [(False, "guest-1"), (True, "ada")])
async def test_without_guests_or_with_another_name_a_token_is_needed(
    tmp_path: Path, guests: bool, name: str
) -> None:
    async with home(tmp_path, guests=guests) as host, dial(host.url) as peer:
        await peer.say(Hello(name))
        assert (await peer.hear(Error)).code is Code.BAD_TOKEN


async def test_a_guests_name_that_has_a_token_is_no_guests(tmp_path: Path) -> None:
    async with home(tmp_path) as host, dial(host.url) as peer:
        host.issue_token("guest-1")
        await peer.say(Hello("guest-1"))
        assert (await peer.hear(Error)).code is Code.BAD_TOKEN
