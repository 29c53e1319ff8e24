"""Strangers who misuse a public server, as programs: each is cut off, and honest bots play on beside it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec import structs
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidMessage, InvalidStatus

from arena.protocol.codes import EndReason
from arena.protocol.record import Record
from arena.server.edge import admission
from arena.server.edge.limits import HostLimits
from arena.server.host import open_host
from arena.server.settings import make_private_host_settings
from testkit.horde import run_attack
from tests.e2e.test_misbehaving import PAUSE_SECONDS, PLENTY, run_peer, spec
from tests.peers.honest import honest

LIMITS = HostLimits(hello_seconds=5.0, connections=160, connections_per_address=40, cut_offs=100)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let those go at once that are refused, so that they come back often."""
    monkeypatch.setattr(admission, "REFUSAL_SECONDS", 0)


async def misuse(script: str, *arguments: str) -> tuple[list[dict[str, Any]], list[Record]]:
    """Return the output of the peer and the matches beside it, of which at least one began after the peer's end."""
    beside: list[Record] = []
    async with (
        open_host(make_private_host_settings(limits=LIMITS, grace_seconds=120.0)) as host,
        honest(host.url, "anna", host.issue_token("anna")),
        honest(host.url, "bert", host.issue_token("bert")),
    ):
        host.issue_token("victim")
        peer = asyncio.create_task(run_peer(host, script, *arguments))
        while not peer.done():
            beside.append(await host.play(spec("anna", "bert", PLENTY)))
            await asyncio.sleep(PAUSE_SECONDS)
        beside.append(await host.play(spec("anna", "bert", PLENTY)))
        return await peer, beside


def assert_unhurt(beside: list[Record]) -> None:
    assert len(beside) >= 2
    assert {each.result.reason for each in beside} == {EndReason.LINE}


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("kind", ["slow-loris", "messages"])
async def test_a_horde_that_comes_back_is_cut_off_each_time_and_then_refused(kind: str) -> None:
    limits = structs.replace(LIMITS, hello_seconds=2.0, cut_offs=4)
    async with (
        # an address is refused for half of the grace time, which is longer than a round of the horde
        open_host(make_private_host_settings(limits=limits, anyone=True, grace_seconds=60.0)) as host,
        honest(host.url, "anna", host.issue_token("anna")),
        honest(host.url, "bert", host.issue_token("bert")),
    ):
        host.issue_token("victim")
        horde = asyncio.create_task(attack_until_refused(kind, host.url))
        beside = [await host.play(spec("anna", "bert", PLENTY))]
        await horde
        beside.append(await host.play(spec("anna", "bert", PLENTY)))
    assert_unhurt(beside)


async def attack_until_refused(kind: str, url: str) -> None:
    """Let eight clients of one address come back until they were cut off more often than once each, and are refused."""
    cut = 0
    while cut <= 8 or not await is_refused(url):
        cut += (await run_attack(kind, url, "127.0.0.2", 8, 3.5)).lost


async def is_refused(url: str) -> bool:
    try:
        async with connect(url, local_addr=("127.0.0.2", 0)):
            return False
    except InvalidStatus:  # an answer, though not to such a client
        return False
    except (InvalidMessage, OSError):
        return True
