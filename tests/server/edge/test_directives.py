"""Directives of the host at an edge: banned clients are disconnected, and all others get the notice."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from arena.protocol.codes import ErrorCode
from arena.protocol.messages import Error, Hello, Notice, Ping
from arena.server.core.inputs import ClientDisconnected
from arena.server.edge.directives import ActiveDirectives
from arena.server.ports import AdmissionRequest
from tests.server.edge.rig import ADDRESS, OTHER_ADDRESS, Peer, open_rig
from tests.virtual import virtual

LATER = Notice("An upgrade at eight.", "2026-11-25T20:00:00.000Z")


@pytest.mark.parametrize(
    "directives",
    [
        ActiveDirectives(banned_names={"anna": "it stands still"}),
        ActiveDirectives(banned_networks={ip_network(f"{ADDRESS}/32"): "it stands still"}),
        ActiveDirectives(banned_networks={ip_network("198.51.100.0/31"): "it stands still"}),
    ],
    ids=["name", "address", "network"],
)
@virtual
async def test_a_banned_bot_is_disconnected_with_the_reason_and_cannot_return(
    directives: ActiveDirectives,
) -> None:
    async with open_rig() as arena:
        anna, bert = (
            (await arena.admit_client("anna"))[0],
            (await arena.admit_client("bert", OTHER_ADDRESS))[0],
        )
        arena.edge.apply_directives(directives)
        error, code = await anna.wait_refused()
        assert (error.code, error.detail, code) == (ErrorCode.REMOVED, "it stands still", 1008)
        assert len(arena.core.list_received(ClientDisconnected)) == 1
        assert arena.core.get_last(ClientDisconnected).fault is None, (
            "the matches of a banned bot wait for it, as after any lost connection"
        )
        requests = len(arena.core.list_received(AdmissionRequest))
        again = Peer(arena.edge)
        if directives.banned_names:
            await again.open_websocket()
            again.send(Hello("anna"))
            assert (await again.wait_refused())[0].code is ErrorCode.REMOVED
        else:
            assert (await again.open_websocket()).status_code == 403
            asks = Peer(arena.edge)
            asks.transport.feed_data(b"GET /page HTTP/1.1\r\n\r\n")
            await asks.wait_until(lambda: b"it stands still" in asks.bytes)
            assert asks.bytes.startswith(b"HTTP/1.1 403")
        assert len(arena.core.list_received(AdmissionRequest)) == requests
        bert.send(Ping())
        assert not bert.is_over
        arena.edge.apply_directives(ActiveDirectives())
        assert not (await arena.admit_client("anna"))[0].is_over


@virtual
async def test_a_banned_client_that_waits_for_admission_is_disconnected() -> None:
    async with open_rig() as arena:
        anna, _ = await arena.request_admission(Hello("anna"))
        arena.edge.apply_directives(ActiveDirectives(banned_names={"anna": "its token was revoked"}))
        assert (await anna.wait_refused())[0].code is ErrorCode.REMOVED


@virtual
async def test_a_notice_and_its_withdrawal_reach_present_and_new_clients() -> None:
    async with open_rig() as arena:
        anna, _ = await arena.admit_client("anna")
        for _ in range(2):
            arena.edge.apply_directives(ActiveDirectives(notice=LATER))
        assert await anna.receive(Notice) == LATER
        bert, _ = await arena.admit_client("bert")
        assert await bert.receive(Notice) == LATER
        arena.edge.apply_directives(ActiveDirectives())
        assert await anna.receive(Notice) == Notice("", ""), "an unchanged notice is sent only once"
        carl, _ = await arena.admit_client("carl")
        assert not [each for each in carl.take_messages() if isinstance(each, Notice | Error)]


def test_a_banned_address_is_found_in_every_spelling() -> None:
    directives = ActiveDirectives(
        banned_networks={ip_network("192.0.2.7"): "one", ip_network("2001:db8:0:1::/64"): "six"}
    )
    assert directives.find_ban_reason("::ffff:192.0.2.7") == "one"
    assert directives.find_ban_reason("2001:db8:0:1::99") == "six"
    assert directives.find_ban_reason("192.0.2.8") == directives.find_ban_reason("a socket") == ""
