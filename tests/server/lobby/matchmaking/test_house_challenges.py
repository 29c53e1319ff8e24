"""Challenges to house bots over real sockets: passed on in turn, and told their place."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from arena.protocol.messages import (
    Accept,
    Challenge,
    Challenged,
    ChallengeOver,
    End,
    Queued,
    Ready,
    Resign,
    Start,
    Turn,
    Withdraw,
)
from arena.protocol.timecontrol import TimeControl
from arena.server.host import Host, open_host
from arena.server.lobby.house import HousePlan
from arena.server.lobby.matchmaking import guests
from arena.server.lobby.matchmaking.guests import PLACES_PER_ADDRESS
from arena.server.lobby.matchmaking.house_challenges import BOT_TOTAL_MS
from arena.server.lobby.matchmaking.matchmaker import OPEN_EVENT
from arena.server.lobby.roster import MATCHES, HouseBot
from arena.server.settings import Settings, private
from tests.server.peer import Peer, dial

HOUSE = "house-slow"
FINE = Challenge(HOUSE, game="tictactoe", time_control=TimeControl.parse("300+3"), rated=False)


@asynccontextmanager
async def home(
    tmp_path: Path, settings: Settings | None = None, going_on: str | None = None
) -> AsyncIterator[Host]:
    """A server whose one house bot takes longer to connect than any test lasts: a test is the house bot itself."""
    slow = tmp_path / "slow.py"
    slow.write_text("import time\n\ntime.sleep(60)\n")
    plan = HousePlan([HouseBot(HOUSE, str(slow))])
    async with open_host(settings, house=plan, going_on=going_on) as host:
        yield host


@asynccontextmanager
async def house_bot(host: Host, session: str = "") -> AsyncIterator[Peer]:
    async with dial(host.url) as peer:
        await peer.hello(HOUSE, host.issue_token(HOUSE), session, matches=MATCHES, pool=False)
        yield peer


@asynccontextmanager
async def guest(host: Host, number: int, source: str) -> AsyncIterator[Peer]:
    async with dial(host.url, local_addr=(source, 0)) as peer:
        await peer.hello(f"guest-{number}")
        yield peer


async def test_whoever_must_wait_is_told_its_place_and_each_change_of_it(tmp_path: Path) -> None:
    async with home(tmp_path) as host, AsyncExitStack() as stack:
        house = await stack.enter_async_context(house_bot(host))
        playing = []
        for number in range(PLACES_PER_ADDRESS):
            peer = await stack.enter_async_context(guest(host, number, "127.0.0.1"))
            await peer.say(FINE)
            await house.say(Accept((await house.hear(Challenged)).challenge))
            playing.append((peer, (await peer.hear(Start)).match))
        waiting = []
        for number in range(10, 12):
            peer = await stack.enter_async_context(guest(host, number, "127.0.0.1"))
            await peer.say(FINE)
            expires = (await peer.hear(Challenged)).expires_ms
            assert 1_790_000 < expires <= 1_800_000
            assert (await peer.hear(Queued)).place == number - 9
            waiting.append(peer)
        peer, match = playing[0]
        await peer.say(Resign(match))
        await peer.hear(End)
        asked = await house.hear(Challenged)
        assert asked.challenger == "guest-10"
        assert asked.expires_ms <= 60_000
        assert (await waiting[1].hear(Queued)).place == 1
        await house.say(Accept(asked.challenge))
        assert (await waiting[0].hear(ChallengeOver)).outcome == "accepted"


async def test_the_guests_of_one_address_leave_places_to_another(tmp_path: Path) -> None:
    async with home(tmp_path) as host, AsyncExitStack() as stack:
        house = await stack.enter_async_context(house_bot(host))
        for number in range(PLACES_PER_ADDRESS + 1):
            peer = await stack.enter_async_context(guest(host, number, "127.0.0.1"))
            await peer.say(FINE)
            await peer.hear(Challenged)
        other = await stack.enter_async_context(guest(host, 100, "127.0.0.2"))
        await other.say(FINE)
        names = [(await house.hear(Challenged)).challenger for _ in range(PLACES_PER_ADDRESS + 1)]
        assert names == ["guest-0", "guest-1", "guest-100"]


async def test_the_bots_of_one_address_have_half_of_the_places(tmp_path: Path) -> None:
    async with home(tmp_path) as host, AsyncExitStack() as stack:
        house = await stack.enter_async_context(house_bot(host))
        peers = {}
        for number, source in enumerate(["127.0.0.1"] * MATCHES + ["127.0.0.2"]):
            name = f"bot {number}"
            peer = await stack.enter_async_context(dial(host.url, local_addr=(source, 0)))
            await peer.hello(name, host.issue_token(name))
            await peer.say(FINE)
            await peer.hear(Challenged)
            peers[name] = peer
        names = [(await house.hear(Challenged)).challenger for _ in range(MATCHES // 2 + 1)]
        assert names == ["bot 0", "bot 1", f"bot {MATCHES}"]
        assert (await peers["bot 2"].hear(Queued)).place == 1
        assert (await peers["bot 3"].hear(Queued)).place == 2


@pytest.mark.parametrize("way", ["withdraws", "leaves"])
async def test_who_goes_leaves_its_place_to_the_next(tmp_path: Path, way: str) -> None:
    async with home(tmp_path) as host, AsyncExitStack() as stack:
        house = await stack.enter_async_context(house_bot(host))
        first_stack = await stack.enter_async_context(AsyncExitStack())
        first = await first_stack.enter_async_context(guest(host, 0, "127.0.0.1"))
        peers = [first]
        for number in range(1, PLACES_PER_ADDRESS + 1):
            peers.append(await stack.enter_async_context(guest(host, number, "127.0.0.1")))
        ids = []
        for peer in peers:
            await peer.say(FINE)
            ids.append((await peer.hear(Challenged)).challenge)
        assert (await peers[-1].hear(Queued)).place == 1
        if way == "withdraws":
            await first.say(Withdraw(ids[0]))
        else:
            await first_stack.aclose()
        told = [(await house.hear(Challenged)).challenge for _ in peers]
        assert told == ids


async def test_a_house_bot_that_comes_back_is_told_again(tmp_path: Path) -> None:
    async with home(tmp_path) as host, guest(host, 1, "127.0.0.1") as peer:
        async with house_bot(host) as house:
            await peer.say(FINE)
            asked = await house.hear(Challenged)
        async with house_bot(host) as house:
            assert (await house.hear(Challenged)).challenge == asked.challenge
            await house.say(Accept(asked.challenge))
            assert (await peer.hear(ChallengeOver)).outcome == "accepted"


async def test_before_its_house_bot_runs_a_challenge_waits(tmp_path: Path) -> None:
    async with home(tmp_path) as host, guest(host, 1, "127.0.0.1") as peer:
        await peer.say(FINE)
        assert (await peer.hear(Queued)).place == 1
        async with house_bot(host) as house:
            assert (await house.hear(Challenged)).challenger == "guest-1"


@pytest.mark.parametrize(
    ("name", "total_ms"), [("guest-1", guests.TOTAL_MS), ("ada", BOT_TOTAL_MS)], ids=["guest", "bot"]
)
async def test_a_match_with_the_house_is_bounded_as_a_whole(tmp_path: Path, name: str, total_ms: int) -> None:
    async with home(tmp_path) as host, house_bot(host) as house, dial(host.url) as peer:
        await peer.hello(name, "" if name.startswith("guest") else host.issue_token(name))
        longest = TimeControl.parse("900+10")
        await peer.say(replace(FINE, time_control=longest, seat="maxie"))
        await house.say(Accept((await house.hear(Challenged)).challenge))
        match = (await peer.hear(Start)).match
        assert host.rooms[match].terms.total_ms == total_ms
        for each in (peer, house):
            await each.say(Ready(match))
        assert (await peer.hear(Turn)).clocks.maxie_ms == min(total_ms, longest.base_ms)


async def test_a_match_that_goes_on_after_a_restart_keeps_its_place(tmp_path: Path) -> None:
    kept = private(database=f"sqlite:///{tmp_path / 'arena.db'}", grace_seconds=20)
    async with home(tmp_path, kept) as host, AsyncExitStack() as stack:
        house = await stack.enter_async_context(house_bot(host))
        for number in range(3):
            peer = await stack.enter_async_context(guest(host, number, f"127.0.0.{number + 1}"))
            await peer.say(FINE)
            await house.say(Accept((await house.hear(Challenged)).challenge))
            await peer.hear(Start)
    async with home(tmp_path, kept, OPEN_EVENT) as host, AsyncExitStack() as stack:
        assert host.resumed == 3
        await stack.enter_async_context(house_bot(host))
        peer = await stack.enter_async_context(guest(host, 9, "127.0.0.9"))
        await peer.say(FINE)
        # Guests together have three of four places, and these are taken.
        assert (await peer.hear(Queued)).place == 1
