"""The edge and the core: the list of clients for a new core, the client of the web page, and the shutdown."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from arena.protocol.codes import EndReason, ErrorCode
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
from arena.server.edge.connection import WEBSOCKET_CLOSE_TIMEOUT_SECONDS
from arena.server.edge.page_client import CORE_ANSWER_TIMEOUT_SECONDS, IDLE_SECONDS_BEFORE_DISCONNECT
from arena.server.ports import AdmissionRequest, RequestResync
from tests.server.edge.rig import (
    CLOCKS,
    OTHER_ADDRESS,
    SECRET,
    Peer,
    Rig,
    make_welcome,
    open_rig,
    open_rig_with_client,
)
from tests.virtual import virtual

VIEW = View("m", "e", "t", {}, Players("a", "b"), TimeControl.parse("1+0"), [], CLOCKS, "maxie")
EMPTY_LOBBY_LISTING = Listing([], [], [])


# resync


@virtual
async def test_a_resync_lists_the_admitted_clients_with_their_session_secrets() -> None:
    async with open_rig() as arena:
        anna, first = await arena.admit_client("anna")
        eve, second = await arena.admit_client("eve", OTHER_ADDRESS, "spectator")
        gone, _ = await arena.admit_client("gone")
        gone.transport.reset()
        await arena.connect()
        await asyncio.sleep(0.1)
        arena.core.received.clear()
        arena.core.deliver(RequestResync())
        [here] = arena.core.received
        assert isinstance(here, EdgeResynced)
        assert here.edge_number == arena.edge.number
        clients = [
            (each.client_number, each.hello.name, each.hello.session, each.role) for each in here.clients
        ]
        assert clients == [(first, "anna", SECRET, "bot"), (second, "eve", "", "spectator")]
        for peer in (anna, eve):
            assert not any(isinstance(each, Error) for each in peer.take_messages())


@virtual
async def test_subscriptions_are_repeated_after_a_resync() -> None:
    async with open_rig() as arena:
        eve, client = await arena.admit_client("eve", role="spectator")
        eve.send(Watch("m"), Watch("over"), Watch("none"), Watch("left"), Browse())
        await asyncio.sleep(1)
        arena.send(
            client,
            VIEW,
            *(_named(each) for each in ("over", "left")),
            Error(ErrorCode.NO_SUCH_MATCH, "", "none"),
            EMPTY_LOBBY_LISTING,
        )
        arena.publish("over", End("over", None, EndReason.LINE, "", [], CLOCKS))
        eve.send(Unwatch("left"))
        await asyncio.sleep(1)
        arena.core.received.clear()
        arena.edge.resync_with_core()
        assert isinstance(arena.core.received[0], EdgeResynced)
        again = [received.message for received in arena.core.list_received(MessageReceived)]
        assert again == [Watch("m"), Browse()]


def _named(match: str) -> View:
    return replace(VIEW, match=match)


@virtual
async def test_an_unanswered_hello_is_repeated_after_a_resync() -> None:
    async with open_rig() as arena:
        peer, _ = await arena.request_admission(Hello("anna"))
        arena.edge.resync_with_core()
        first, second = arena.core.list_received(AdmissionRequest)
        assert first == second
        assert arena.core.get_last(EdgeResynced).clients == []
        arena.core.deliver(SendToClient(first.client_number, make_welcome(first.hello)))
        await peer.receive(Welcome)
        arena.core.deliver(SendToClient(first.client_number, make_welcome(first.hello)))
        arena.edge.resync_with_core()
        assert len(arena.core.get_last(EdgeResynced).clients) == 1


@virtual
async def test_messages_for_a_disconnected_client_are_dropped() -> None:
    async with open_rig_with_client() as (arena, anna, client):
        anna.transport.reset()
        await asyncio.sleep(0.1)
        arena.core.deliver(
            SendToClient(client, Pong()),
            CloseClient(client, ErrorCode.REPLACED, ""),
            PublishToTopic("m", Pong(), (1,)),
        )
        assert len(arena.core.list_received(ClientDisconnected)) == 1


# the page client


class AnsweringCore:
    """Core that answers `watch` and `browse`, unless `is_away` is True."""

    def __init__(self, arena: Rig) -> None:
        self.arena = arena
        self.is_away = False
        give = arena.core.submit

        def answer(message: object) -> None:
            give(message)  # type: ignore[arg-type]
            if isinstance(message, MessageReceived) and not self.is_away:
                asked = message.message
                if isinstance(asked, Browse):
                    arena.core.deliver_soon(SendToClient(message.client_number, EMPTY_LOBBY_LISTING))
                elif isinstance(asked, Watch):
                    reply = VIEW if asked.match == "m" else Error(ErrorCode.NO_SUCH_MATCH, "", asked.match)
                    arena.core.deliver_soon(SendToClient(message.client_number, reply))

        arena.core.submit = answer  # type: ignore[method-assign]


@virtual
async def test_the_page_client_gets_matches_in_progress_and_the_listing() -> None:
    async with open_rig() as arena:
        AnsweringCore(arena)
        live = arena.edge.page_client
        assert await live.request_view("m") == VIEW
        assert await live.request_view("none") is None
        assert await live.request_lobby_listing_or_last_known() == EMPTY_LOBBY_LISTING
        [request] = arena.core.list_received(AdmissionRequest)
        assert request.hello.role == "spectator"
        messages = [each.message for each in arena.core.list_received(MessageReceived)]
        assert messages == [Watch("m"), Unwatch("m"), Watch("none"), Browse()]


@virtual
async def test_equal_requests_of_the_page_share_one_request_to_the_core() -> None:
    async with open_rig() as arena:
        AnsweringCore(arena)
        found = await asyncio.gather(*(arena.edge.page_client.request_view("m") for _ in range(10)))
        assert found == 10 * [VIEW]
        assert [each.message for each in arena.core.list_received(MessageReceived)] == [
            Watch("m"),
            Unwatch("m"),
        ]
        await asyncio.gather(
            *(arena.edge.page_client.request_lobby_listing_or_last_known() for _ in range(10))
        )
        await arena.edge.page_client.request_lobby_listing_or_last_known()
        assert [each.message for each in arena.core.list_received(MessageReceived)].count(Browse()) == 1
        await asyncio.sleep(1)
        await arena.edge.page_client.request_lobby_listing_or_last_known()
        assert [each.message for each in arena.core.list_received(MessageReceived)].count(Browse()) == 2


@virtual
async def test_an_idle_page_client_disconnects_until_the_next_request() -> None:
    async with open_rig() as arena:
        AnsweringCore(arena)
        await arena.edge.page_client.request_view("m")
        await asyncio.sleep(IDLE_SECONDS_BEFORE_DISCONNECT + 1)
        assert [gone.client_number for gone in arena.core.list_received(ClientDisconnected)] == [
            arena.core.get_last(AdmissionRequest).client_number
        ]
        assert await arena.edge.page_client.request_view("m") == VIEW
        assert len({request.client_number for request in arena.core.list_received(AdmissionRequest)}) == 2


@virtual
async def test_the_page_client_times_out_without_a_core_and_repeats_its_requests_to_a_new_one() -> None:
    async with open_rig() as arena:
        answering = AnsweringCore(arena)
        await arena.edge.page_client.request_lobby_listing_or_last_known()
        answering.is_away = True
        start_time = asyncio.get_running_loop().time()
        assert await arena.edge.page_client.request_view("m") is None
        assert asyncio.get_running_loop().time() - start_time == pytest.approx(CORE_ANSWER_TIMEOUT_SECONDS)
        await asyncio.sleep(1)
        assert await arena.edge.page_client.request_lobby_listing_or_last_known() == EMPTY_LOBBY_LISTING
        failed = asyncio.get_running_loop().time()
        assert await arena.edge.page_client.request_lobby_listing_or_last_known() == EMPTY_LOBBY_LISTING
        assert asyncio.get_running_loop().time() == failed, "soon after a failed request, no request waits"
        asked = asyncio.create_task(arena.edge.page_client.request_view("m"))
        await asyncio.sleep(0.1)
        answering.is_away = False
        arena.edge.resync_with_core()
        [client] = arena.core.get_last(EdgeResynced).clients
        assert client.role == "spectator"
        assert await asked == VIEW


@virtual
async def test_a_refused_page_client_connects_again_with_the_next_request() -> None:
    async with open_rig() as arena:
        AnsweringCore(arena)
        arena.core.welcomes = False
        asked = asyncio.create_task(arena.edge.page_client.request_view("m"))
        await asyncio.sleep(0.1)
        arena.core.deliver(
            CloseClient(arena.core.get_last(AdmissionRequest).client_number, ErrorCode.SERVER_FULL, "")
        )
        assert await asked is None
        arena.core.welcomes = True
        assert await arena.edge.page_client.request_view("m") == VIEW


# no contact to a core


@virtual
async def test_an_edge_without_contact_to_a_core_disconnects_and_refuses_clients(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with open_rig_with_client() as (arena, anna, _):
        for _ in range(2):
            arena.edge.set_cut_off_from_core(is_cut_off=True)
        error, code = await anna.wait_refused()
        assert (error.code, code) == (ErrorCode.SHUTTING_DOWN, 1001)
        response = await Peer(arena.edge).open_websocket()
        assert response.status_code == 503
        for _ in range(2):
            arena.edge.set_cut_off_from_core(is_cut_off=False)
        await arena.admit_client("anna")
    warnings = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
    assert warnings == [
        f"edge {arena.edge.number} receives nothing from any core: disconnecting its clients",
        f"edge {arena.edge.number} receives messages from a core again, and admits clients",
    ]


# shutdown


@pytest.mark.parametrize(
    ("code", "close_code"), [(ErrorCode.SHUTTING_DOWN, 1001), (ErrorCode.EVENT_OVER, 1000)]
)
@virtual
async def test_a_closing_edge_tells_all_clients_the_reason(code: ErrorCode, close_code: int) -> None:
    async with open_rig_with_client() as (arena, anna, client):
        greeting = await arena.connect(OTHER_ADDRESS)
        silent = Peer(arena.edge, OTHER_ADDRESS)
        closing = asyncio.create_task(arena.edge.close(code))
        for peer in (anna, greeting):
            error, found = await peer.wait_refused()
            assert (error.code, error.fatal, found) == (code, True, close_code)
        await asyncio.wait_for(closing, WEBSOCKET_CLOSE_TIMEOUT_SECONDS)
        assert silent.transport.closing
        assert arena.core.list_received(ClientDisconnected) == [ClientDisconnected(client)]
        stranger = Peer(arena.edge)
        await asyncio.sleep(0.1)
        assert stranger.transport.closing, "a closing edge admits no connection"


@virtual
async def test_closing_an_edge_does_not_wait_long_for_a_client_that_never_reads() -> None:
    async with open_rig() as arena:
        deaf, _ = await arena.admit_client()
        deaf.is_reading = False
        start_time = asyncio.get_running_loop().time()
        await arena.edge.close()
        assert asyncio.get_running_loop().time() - start_time <= 2 * WEBSOCKET_CLOSE_TIMEOUT_SECONDS
        await arena.edge.close()


@virtual
async def test_an_exception_in_one_connection_ends_only_that_connection() -> None:
    async with open_rig_with_client() as (arena, anna, client):
        eve = await arena.connect(OTHER_ADDRESS)
        give = arena.core.submit

        def fails(message: object) -> None:
            if isinstance(message, AdmissionRequest):
                raise RuntimeError("a bug")  # noqa: TRY004
            give(message)  # type: ignore[arg-type]

        arena.core.submit = fails  # type: ignore[method-assign]
        eve.send(Hello("eve"))
        await eve.transport.lost.wait()
        arena.send(client, Pong())
        await anna.receive(Pong)
