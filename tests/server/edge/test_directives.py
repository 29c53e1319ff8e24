"""The host's directives at an edge: clients are removed at once, and all others told a notice."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from arena.protocol.codes import Code
from arena.protocol.messages import Error, Hello, Notice, Ping
from arena.server.core.inputs import ClientDisconnected
from arena.server.edge.directives import Directives
from arena.server.ports import AdmissionRequest
from tests.server.edge.rig import ELSEWHERE, HERE, Peer, rig
from tests.virtual import virtual

LATER = Notice("An upgrade at eight.", "2026-11-25T20:00:00.000Z")


@pytest.mark.parametrize(
    "directives",
    [
        Directives(banned_names={"anna": "it stands still"}),
        Directives(banned_networks={ip_network(f"{HERE}/32"): "it stands still"}),
        Directives(banned_networks={ip_network("198.51.100.0/31"): "it stands still"}),
    ],
    ids=["name", "address", "network"],
)
@virtual
async def test_a_removed_bot_gets_the_reason_at_once_and_cannot_return(directives: Directives) -> None:
    async with rig() as arena:
        anna, bert = (await arena.enter("anna"))[0], (await arena.enter("bert", ELSEWHERE))[0]
        arena.edge.apply_directives(directives)
        told, code = await anna.refused()
        assert (told.code, told.detail, code) == (Code.REMOVED, "it stands still", 1008)
        assert len(arena.core.all(ClientDisconnected)) == 1
        assert arena.core.last(ClientDisconnected).fault is None, (
            "its matches wait for it, as for any that is lost"
        )
        requests = len(arena.core.all(AdmissionRequest))
        again = Peer(arena.edge)
        if directives.banned_names:
            await again.open()
            again.say(Hello("anna"))
            assert (await again.refused())[0].code is Code.REMOVED
        else:
            assert (await again.open()).status_code == 403
            asks = Peer(arena.edge)
            asks.wire.arrive(b"GET /page HTTP/1.1\r\n\r\n")
            await asks.news(lambda: b"it stands still" in asks.bytes)
            assert asks.bytes.startswith(b"HTTP/1.1 403")
        assert len(arena.core.all(AdmissionRequest)) == requests
        bert.say(Ping())
        assert not bert.is_over
        arena.edge.apply_directives(Directives())
        assert not (await arena.enter("anna"))[0].is_over


@virtual
async def test_a_client_that_waits_for_its_welcome_is_removed_too() -> None:
    async with rig() as arena:
        anna, _ = await arena.knock(Hello("anna"))
        arena.edge.apply_directives(Directives(banned_names={"anna": "its token was revoked"}))
        assert (await anna.refused())[0].code is Code.REMOVED


@virtual
async def test_a_notice_reaches_all_who_are_there_or_come_and_its_end_too() -> None:
    async with rig() as arena:
        anna, _ = await arena.enter("anna")
        for _ in range(2):
            arena.edge.apply_directives(Directives(notice=LATER))
        assert await anna.hear(Notice) == LATER
        bert, _ = await arena.enter("bert")
        assert await bert.hear(Notice) == LATER
        arena.edge.apply_directives(Directives())
        assert await anna.hear(Notice) == Notice("", ""), "told once, however often the host's word is read"
        carl, _ = await arena.enter("carl")
        assert not [each for each in carl.heard() if isinstance(each, Notice | Error)]


def test_addresses_are_met_in_every_spelling() -> None:
    directives = Directives(
        banned_networks={ip_network("192.0.2.7"): "one", ip_network("2001:db8:0:1::/64"): "six"}
    )
    assert directives.find_ban_reason("::ffff:192.0.2.7") == "one"
    assert directives.find_ban_reason("2001:db8:0:1::99") == "six"
    assert directives.find_ban_reason("192.0.2.8") == directives.find_ban_reason("a socket") == ""
