"""Dispatch, over real sockets: spectators, roles, watching, browsing, and who may not do what."""

from __future__ import annotations

import anyio
import pytest

from arena.protocol.codes import Code
from arena.protocol.messages import (
    Accept,
    Browse,
    Challenge,
    ClientMessage,
    Decline,
    End,
    Error,
    Hello,
    Listing,
    Move,
    Ping,
    Pong,
    Ready,
    Resign,
    Start,
    Turn,
    Unwatch,
    Update,
    View,
    Watch,
    Withdraw,
)
from arena.protocol.record import Record
from arena.protocol.values import Role
from arena.server.host import Host, open_host
from arena.server.lobby.dispatch import LISTING_SECONDS
from arena.server.net.limits import HostLimits
from arena.server.settings import private
from arena.server.store import tokens
from tests.server.matches import game_of, spec
from tests.server.peer import Peer, dial, enter

GAME = game_of()


async def start_match(host: Host, anna: Peer, bert: Peer, records: list[Record]) -> None:
    records.append(await host.play(spec("anna", "bert", "20+1")))


async def get_ready(*peers: Peer) -> str:
    match = ""
    for peer in peers:
        match = (await peer.hear(Start)).match
        await peer.say(Ready(match))
    return match


async def move(peer: Peer, cell: int) -> None:
    turn = await peer.hear(Turn)
    await peer.say(Move(turn.match, turn.ply, cell))


async def test_a_spectator_sees_a_match_from_its_middle_to_its_end(host: Host) -> None:
    records: list[Record] = []
    async with enter(host, "anna") as anna, enter(host, "bert") as bert, dial(host.url) as eve:
        await eve.hello("eve", role="spectator")
        assert (eve.welcome.session, eve.welcome.limits.matches) == ("", 0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(start_match, host, anna, bert, records)
            match = await get_ready(anna, bert)
            await move(anna, 0)
            await move(bert, 3)
            await anna.hear(Turn)
            await eve.say(Watch(match))
            view = await eve.hear(View)
            await anna.say(Move(match, 2, 1))
            for peer, cell in ((bert, 4), (anna, 2)):
                await move(peer, cell)
            updates = [await eve.hear(Update) for _ in range(3)]
            end = await eve.hear(End)
    assert ([each.move for each in view.moves], view.mover) == ([0, 3], "maxie")
    assert view.players == records[0].players
    assert [(each.ply, each.played.move) for each in updates] == [(2, 1), (3, 4), (4, 2)]
    assert (end.winner, end.moves) == ("maxie", [0, 3, 1, 4, 2])


async def test_a_ping_is_answered_to_players_and_to_spectators(host: Host) -> None:
    async with enter(host, "anna") as anna, dial(host.url) as eve:
        await eve.hello("eve", role="spectator")
        for peer in (anna, eve):
            await peer.say(Ping())
            assert await peer.next() == Pong()


async def test_who_unwatches_hears_no_more(host: Host) -> None:
    records: list[Record] = []
    async with enter(host, "anna") as anna, enter(host, "bert") as bert, dial(host.url) as eve:
        await eve.hello("eve", role="spectator")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(start_match, host, anna, bert, records)
            match = await get_ready(anna, bert)
            await eve.say(Watch(match))
            await eve.hear(View)
            for _ in range(2):
                await eve.say(Unwatch(match))
            await eve.say(Ready("barrier"))
            assert (await eve.hear(Error)).code is Code.NOT_A_PLAYER
            await anna.say(Resign(match))
        await eve.say(Watch(match))
        answer = await eve.next()
    assert isinstance(answer, Error)
    assert (answer.code, answer.match) == (Code.NO_SUCH_MATCH, match)


async def test_a_match_that_voids_or_ends_leaves_no_spectators(host: Host) -> None:
    records: list[Record] = []
    async with enter(host, "anna") as anna, enter(host, "bert") as bert, anyio.create_task_group() as tasks:
        tasks.start_soon(start_match, host, anna, bert, records)
        match = await get_ready(anna, bert)
        async with dial(host.url) as eve:
            await eve.hello("eve", role="spectator")
            await eve.say(Watch(match))
            await eve.hear(View)
            spectators = host.spectators(match)
            assert spectators is not None
            assert len(spectators) == 1
        with anyio.fail_after(10):
            while len(spectators):
                await anyio.sleep(0.01)
        await anna.say(Resign(match))


async def test_so_many_matches_are_watched_at_once_and_those_that_are_over_do_not_count() -> None:
    async with (
        open_host(private(limits=HostLimits(watched=1))) as host,
        enter(host, "anna", matches=3) as anna,
        enter(host, "bert", matches=3) as bert,
        dial(host.url) as eve,
        anyio.create_task_group() as tasks,
    ):
        await eve.hello("eve", role="spectator")
        records: list[Record] = []
        matches = []
        for _ in range(2):
            tasks.start_soon(start_match, host, anna, bert, records)
            matches.append(await get_ready(anna, bert))
        await eve.say(Watch(matches[0]))
        await eve.hear(View)
        await eve.say(Watch(matches[1]))
        assert (await eve.hear(Error)).code is Code.RATE_LIMITED
        await anna.say(Resign(matches[0]))
        await eve.hear(End)
        await eve.say(Watch(matches[1]))
        assert (await eve.hear(View)).match == matches[1]
        await anna.say(Resign(matches[1]))


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
async def test_a_spectator_neither_plays_nor_challenges(host: Host, message: ClientMessage) -> None:
    async with dial(host.url) as eve:
        await eve.hello("eve", role="spectator")
        await eve.say(message)
        assert (await eve.hear(Error)).code is Code.NOT_A_PLAYER
        await eve.say(Browse())
        assert (await eve.hear(Listing)).bots == []


async def test_a_listing_is_encoded_once_until_something_changes(host: Host) -> None:
    first = host.dispatch.listing(10.0)
    assert host.dispatch.listing(10.0 + LISTING_SECONDS / 2) is first
    async with enter(host, "anna"):
        changed = host.dispatch.listing(10.0 + LISTING_SECONDS / 2)
        assert changed is not first
        assert b"anna" in changed
    assert host.dispatch.listing(20.0) is not changed


async def test_who_asks_for_listings_all_the_time_is_told_at_once_and_then_four_times_a_second(
    host: Host,
) -> None:
    async with dial(host.url) as eve:
        await eve.hello("eve", role="spectator")
        for _ in range(50):
            await eve.say(Browse())
        await eve.say(Watch("no match"))
        before = []
        while not isinstance(message := await eve.next(), Error):
            before.append(message)
        assert 1 <= len(before) < 25, "each has a time of its own to come, and one comes at once"
        await eve.hear(Listing)  # what was asked too soon is told all the same


async def test_who_browses_is_told_of_comings_matches_and_goings(host: Host) -> None:
    async with dial(host.url) as eve, anyio.create_task_group() as tasks:
        await eve.hello("eve", role="spectator")
        await eve.say(Browse())
        assert (await eve.hear(Listing)).bots == []
        async with enter(host, "anna", program="ada 1") as anna, enter(host, "bert") as bert:
            listing = await listed(eve, lambda listing: len(listing.bots) == 2)
            assert {(each.name, each.program, each.matches) for each in listing.bots} == {
                ("anna", "ada 1", 0),
                ("bert", "", 0),
            }
            records: list[Record] = []
            tasks.start_soon(start_match, host, anna, bert, records)
            match = await get_ready(anna, bert)
            listing = await listed(eve, lambda listing: bool(listing.matches))
            assert [(each.match, each.game, each.map) for each in listing.matches] == [
                (match, "tictactoe", "")
            ]
            await anna.say(Resign(match))
            await listed(eve, lambda listing: not listing.matches)
        await listed(eve, lambda listing: not listing.bots)


async def listed(peer: Peer, what: object) -> Listing:
    """The first listing of which `what` is true."""
    while True:
        listing = await peer.hear(Listing)
        if what(listing):  # type: ignore[operator]
            return listing


@pytest.mark.parametrize(
    ("token_role", "asked", "code"),
    [
        ("admin", "admin", None),
        ("spectator", "spectator", None),
        ("bot", "admin", Code.BAD_TOKEN),
        ("spectator", "admin", Code.BAD_TOKEN),
        ("spectator", "bot", Code.NOT_A_PLAYER),
        ("admin", "bot", Code.NOT_A_PLAYER),
    ],
)
async def test_a_token_opens_its_own_role_only(
    host: Host, token_role: Role, asked: Role, code: Code | None
) -> None:
    token = await tokens.create(host.engine, "anna", token_role)
    async with dial(host.url) as peer:
        if code is None:
            await peer.hello("anna", token, role=asked)
            return

        await peer.say(Hello("anna", token, role=asked))
        assert (await peer.hear(Error)).code is code


async def test_nobody_is_an_admin_without_a_token() -> None:

    async with open_host(private(anyone=True)) as host, dial(host.url) as peer:
        await peer.say(Hello("anna", role="admin"))
        assert (await peer.hear(Error)).code is Code.BAD_TOKEN


async def test_a_spectator_has_a_name_that_can_be_printed(host: Host) -> None:

    async with dial(host.url) as peer:
        await peer.say(Hello("eve\n", role="spectator"))
        assert (await peer.hear(Error)).code is Code.BAD_NAME


@pytest.mark.parametrize(
    "message",
    [Ready("none"), Resign("none"), Move("none", 0, 0), Hello("somebody")],
    ids=["ready", "resign", "move", "hello"],
)
async def test_what_is_free_in_a_match_costs_a_stranger_something_without_one(message: ClientMessage) -> None:
    async with (
        open_host(
            private(anyone=True, limits=HostLimits(work_ms_per_second=1))
        ) as host,  # 20 ms are saved up
        enter(host, "anna") as anna,
    ):
        codes = set()
        for _ in range(70):  # a hello costs 0.3 ms
            await anna.say(message)
            codes.add((await anna.hear(Error)).code)
        assert Code.RATE_LIMITED in codes
