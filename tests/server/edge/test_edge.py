"""The edge towards the core: its list of clients, the page's own client, and the end."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from arena.protocol.codes import Code, EndReason
from arena.protocol.messages import (
    Browse,
    End,
    Error,
    Hello,
    Listing,
    Pong,
    Unwatch,
    View,
    Watch,
    Welcome,
)
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Players
from arena.server.core.effects import CloseClient, PublishToTopic, SendToClient
from arena.server.core.inputs import ClientDisconnected, EdgeResynced, MessageReceived
from arena.server.edge.connection import CLOSE_SECONDS
from arena.server.edge.page_client import ANSWER_SECONDS, IDLE_SECONDS
from arena.server.ports import AdmissionRequest, RequestResync
from tests.server.edge.rig import CLOCKS, ELSEWHERE, SECRET, Peer, Rig, entered, rig, welcome
from tests.virtual import virtual

VIEW = View("m", "e", "t", {}, Players("a", "b"), TimeControl.parse("1+0"), [], CLOCKS, "maxie")
NOTHING = Listing([], [], [])


# resync


@virtual
async def test_a_new_core_is_told_who_is_connected_with_the_secrets_of_their_sessions() -> None:
    async with rig() as arena:
        anna, first = await arena.enter("anna")
        eve, second = await arena.enter("eve", ELSEWHERE, "spectator")
        gone, _ = await arena.enter("gone")
        gone.wire.reset()
        await arena.connect()
        await asyncio.sleep(0.1)
        arena.core.given.clear()
        arena.core.deliver(RequestResync())
        [here] = arena.core.given
        assert isinstance(here, EdgeResynced)
        assert here.edge == arena.edge.number
        clients = [(each.client, each.hello.name, each.hello.session, each.role) for each in here.clients]
        assert clients == [(first, "anna", SECRET, "bot"), (second, "eve", "", "spectator")]
        for peer in (anna, eve):
            assert not any(isinstance(each, Error) for each in peer.heard())


@virtual
async def test_followed_topics_are_sent_again_after_a_resync() -> None:
    async with rig() as arena:
        eve, client = await arena.enter("eve", role="spectator")
        eve.say(Watch("m"), Watch("over"), Watch("none"), Watch("left"), Browse())
        await asyncio.sleep(1)
        arena.send(
            client,
            VIEW,
            *(_named(each) for each in ("over", "left")),
            Error(Code.NO_SUCH_MATCH, "", "none"),
            NOTHING,
        )
        arena.publish("over", End("over", None, EndReason.LINE, "", [], CLOCKS))
        eve.say(Unwatch("left"))
        await asyncio.sleep(1)
        arena.core.given.clear()
        arena.edge.resync()
        assert isinstance(arena.core.given[0], EdgeResynced)
        again = [said.message for said in arena.core.all(MessageReceived)]
        assert again == [Watch("m"), Browse()]


def _named(match: str) -> View:
    return replace(VIEW, match=match)


@virtual
async def test_a_hello_without_an_answer_is_said_again() -> None:
    async with rig() as arena:
        peer, _ = await arena.knock(Hello("anna"))
        arena.edge.resync()
        first, second = arena.core.all(AdmissionRequest)
        assert first == second
        assert arena.core.last(EdgeResynced).clients == []
        arena.core.deliver(SendToClient(first.client, welcome(first.hello)))
        await peer.hear(Welcome)
        arena.core.deliver(SendToClient(first.client, welcome(first.hello)))
        arena.edge.resync()
        assert len(arena.core.last(EdgeResynced).clients) == 1


@virtual
async def test_messages_for_who_is_gone_are_dropped() -> None:
    async with entered() as (arena, anna, client):
        anna.wire.reset()
        await asyncio.sleep(0.1)
        arena.core.deliver(
            SendToClient(client, Pong()),
            CloseClient(client, Code.REPLACED, ""),
            PublishToTopic("m", Pong(), (1,)),
        )
        assert len(arena.core.all(ClientDisconnected)) == 1


# the page's own client


class Answering:
    """A core that answers who watches and who browses."""

    def __init__(self, arena: Rig) -> None:
        self.arena = arena
        self.is_away = False
        give = arena.core.submit

        def answer(message: object) -> None:
            give(message)  # type: ignore[arg-type]
            if isinstance(message, MessageReceived) and not self.is_away:
                asked = message.message
                if isinstance(asked, Browse):
                    arena.core.soon(SendToClient(message.client, NOTHING))
                elif isinstance(asked, Watch):
                    told = VIEW if asked.match == "m" else Error(Code.NO_SUCH_MATCH, "", asked.match)
                    arena.core.soon(SendToClient(message.client, told))

        arena.core.submit = answer  # type: ignore[method-assign]


@virtual
async def test_the_page_sees_a_match_in_play_and_the_listing() -> None:
    async with rig() as arena:
        Answering(arena)
        live = arena.edge.page_client
        assert await live.request_view("m") == VIEW
        assert await live.request_view("none") is None
        assert await live.request_latest_listing() == NOTHING
        [request] = arena.core.all(AdmissionRequest)
        assert request.hello.role == "spectator"
        messages = [each.message for each in arena.core.all(MessageReceived)]
        assert messages == [Watch("m"), Unwatch("m"), Watch("none"), Browse()]


@virtual
async def test_many_who_ask_the_same_ask_the_core_once() -> None:
    async with rig() as arena:
        Answering(arena)
        found = await asyncio.gather(*(arena.edge.page_client.request_view("m") for _ in range(10)))
        assert found == 10 * [VIEW]
        assert [each.message for each in arena.core.all(MessageReceived)] == [Watch("m"), Unwatch("m")]
        await asyncio.gather(*(arena.edge.page_client.request_latest_listing() for _ in range(10)))
        await arena.edge.page_client.request_latest_listing()
        assert [each.message for each in arena.core.all(MessageReceived)].count(Browse()) == 1
        await asyncio.sleep(1)
        await arena.edge.page_client.request_latest_listing()
        assert [each.message for each in arena.core.all(MessageReceived)].count(Browse()) == 2


@virtual
async def test_the_pages_client_leaves_when_nobody_asks_and_comes_again() -> None:
    async with rig() as arena:
        Answering(arena)
        await arena.edge.page_client.request_view("m")
        await asyncio.sleep(IDLE_SECONDS + 1)
        assert [gone.client for gone in arena.core.all(ClientDisconnected)] == [
            arena.core.last(AdmissionRequest).client
        ]
        assert await arena.edge.page_client.request_view("m") == VIEW
        assert len({request.client for request in arena.core.all(AdmissionRequest)}) == 2


@virtual
async def test_a_core_that_is_away_leaves_the_page_without_an_answer_and_a_new_one_is_asked_again() -> None:
    async with rig() as arena:
        answering = Answering(arena)
        await arena.edge.page_client.request_latest_listing()
        answering.is_away = True
        began = asyncio.get_running_loop().time()
        assert await arena.edge.page_client.request_view("m") is None
        assert asyncio.get_running_loop().time() - began == pytest.approx(ANSWER_SECONDS)
        await asyncio.sleep(1)
        assert await arena.edge.page_client.request_latest_listing() == NOTHING
        failed = asyncio.get_running_loop().time()
        assert await arena.edge.page_client.request_latest_listing() == NOTHING
        assert asyncio.get_running_loop().time() == failed, "nobody waits again for a core that is away"
        asked = asyncio.create_task(arena.edge.page_client.request_view("m"))
        await asyncio.sleep(0.1)
        answering.is_away = False
        arena.edge.resync()
        [client] = arena.core.last(EdgeResynced).clients
        assert client.role == "spectator"
        assert await asked == VIEW


@virtual
async def test_the_pages_client_comes_in_anew_after_a_refusal() -> None:
    async with rig() as arena:
        Answering(arena)
        arena.core.welcomes = False
        asked = asyncio.create_task(arena.edge.page_client.request_view("m"))
        await asyncio.sleep(0.1)
        arena.core.deliver(CloseClient(arena.core.last(AdmissionRequest).client, Code.SERVER_FULL, ""))
        assert await asked is None
        arena.core.welcomes = True
        assert await arena.edge.page_client.request_view("m") == VIEW


# without a core


@virtual
async def test_an_edge_that_is_cut_off_sends_its_clients_away_and_lets_none_in_until_it_is_back() -> None:
    async with entered() as (arena, anna, _):
        arena.edge.set_cut_off(cut_off=True)
        error, code = await anna.refused()
        assert (error.code, code) == (Code.SHUTTING_DOWN, 1001)
        response = await Peer(arena.edge).open()
        assert response.status_code == 503
        arena.edge.set_cut_off(cut_off=False)
        await arena.enter("anna")


# the end


@pytest.mark.parametrize(("code", "close_code"), [(Code.SHUTTING_DOWN, 1001), (Code.EVENT_OVER, 1000)])
@virtual
async def test_every_connected_client_is_told_that_the_server_stops(code: Code, close_code: int) -> None:
    async with entered() as (arena, anna, client):
        greeting = await arena.connect(ELSEWHERE)
        silent = Peer(arena.edge, ELSEWHERE)
        closing = asyncio.create_task(arena.edge.close(code))
        for peer in (anna, greeting):
            error, found = await peer.refused()
            assert (error.code, error.fatal, found) == (code, True, close_code)
        await asyncio.wait_for(closing, CLOSE_SECONDS)
        assert silent.wire.closing
        assert arena.core.all(ClientDisconnected) == [ClientDisconnected(client)]
        stranger = Peer(arena.edge)
        await asyncio.sleep(0.1)
        assert stranger.wire.closing, "nobody comes in while it ends"


@virtual
async def test_an_end_waits_for_nobody_for_long() -> None:
    async with rig() as arena:
        deaf, _ = await arena.enter()
        deaf.reading = False
        began = asyncio.get_running_loop().time()
        await arena.edge.close()
        assert asyncio.get_running_loop().time() - began <= 2 * CLOSE_SECONDS
        await arena.edge.close()


@virtual
async def test_a_bug_of_one_connection_ends_that_one_alone() -> None:
    async with entered() as (arena, anna, client):
        eve = await arena.connect(ELSEWHERE)
        give = arena.core.submit

        def fails(message: object) -> None:
            if isinstance(message, AdmissionRequest):
                raise RuntimeError("a bug")  # noqa: TRY004
            give(message)  # type: ignore[arg-type]

        arena.core.submit = fails  # type: ignore[method-assign]
        eve.say(Hello("eve"))
        await eve.wire.lost.wait()
        arena.send(client, Pong())
        await anna.hear(Pong)
