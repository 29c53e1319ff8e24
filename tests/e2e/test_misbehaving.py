"""Bots that misbehave, as programs over real sockets.

In every test one of them plays an honest bot while two other bots play match after match beside it. It
gets a clear answer, its opponent gets its win, and the matches beside it end as the rules of the game
say: every one, and at least one of them from after the misbehaviour. Messages that come early, late, twice or out of turn are
sent in tests/match/test_referee.py and in the simulation.
"""

from __future__ import annotations

import asyncio
import json
import sys
import urllib.request
import uuid
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.games.catalogue import make_game
from arena.match.terms import Terms
from arena.protocol.codes import Code, EndReason
from arena.protocol.record import Record
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Players
from arena.server.host import Host, open_host
from arena.server.settings import make_private_host_settings
from tests.peers.honest import Honest, honest

ROOT = Path(__file__).parents[2]
GRACE_MS = 400
MARGIN_MS = 5_000
"""More than the server may be held up for: a flag that falls meanwhile would count for nobody."""
READY_MS = 10_000
"""A peer is a process that has to start; who is never ready makes the test wait for this."""
TIME = TimeControl(400, 0, per_move=True)
PLENTY = TimeControl(120_000)
PAUSE_SECONDS = 0.05
"""Between the matches beside: without it they would take a whole core for as long as a peer is waited for."""


@dataclass
class Outcome:
    """Outcome of a match with a misbehaving bot in Maxie's seat."""

    record: Record
    told: list[dict[str, Any]]
    """Output of the misbehaving bot: the messages that it got, and the end of its connection."""
    opponent: Honest
    beside: list[Record]
    """The matches that two honest bots played in the meantime."""

    def of(self, kind: str) -> list[dict[str, Any]]:
        """Return the received messages of one type."""
        return [message for message in self.told if message["type"] == kind]


def spec(maxie: str, minnie: str, control: TimeControl) -> Terms:
    return Terms(
        match=uuid.uuid4().hex,
        event="misbehaving",
        game=make_game("tictactoe", {}),
        players=Players(maxie, minnie),
        time_control=control,
        margin_ms=MARGIN_MS,
        ready_ms=60_000 if control is PLENTY else READY_MS,
    )


async def run_peer(host: Host, script: str, *arguments: str) -> list[dict[str, Any]]:
    """Run a peer to its end; what it printed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        f"tests.peers.{script}",
        host.url,
        "peer",
        host.issue_token("peer"),
        *arguments,
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(150):
            output, complaints = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, complaints.decode()
    return [json.loads(line) for line in output.splitlines()]


async def misbehave(
    script: str,
    *arguments: str,
    control: TimeControl = PLENTY,
    grace_seconds: float = GRACE_MS / 1000,
) -> Outcome:
    """Play one match of a misbehaving bot (Maxie) against an honest one, with other matches beside it."""
    over = asyncio.Event()
    beside: list[Record] = []

    async def play_beside(host: Host) -> None:
        last = False
        while not last:
            last = over.is_set()  # one more match after the misbehaviour
            beside.append(await host.play(spec("beside a", "beside b", PLENTY)))
            await asyncio.sleep(PAUSE_SECONDS)

    async with AsyncExitStack() as stack:
        host = await stack.enter_async_context(
            open_host(make_private_host_settings(grace_seconds=grace_seconds))
        )
        opponent = await stack.enter_async_context(honest(host.url, "honest", host.issue_token("honest")))
        for name in ("beside a", "beside b"):
            await stack.enter_async_context(honest(host.url, name, host.issue_token(name)))
        for name in ("honest", "beside a", "beside b"):
            assert await host.wait_until_connected(name, 100)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(play_beside(host))
            peer = tasks.create_task(run_peer(host, script, *arguments))
            assert await host.wait_until_connected("peer", 100)
            record = await host.play(spec("peer", "honest", control))
            told = await peer
            over.set()
        assert await asyncio.to_thread(health, host) == b"ok\n"
        return Outcome(record, told, opponent, beside)


def health(host: Host) -> bytes:
    with urllib.request.urlopen(host.url.replace("ws:", "http:") + "/healthz", timeout=500) as answer:
        data: bytes = answer.read()
    return data


def assert_lost(outcome: Outcome, reason: EndReason) -> None:
    """Check that the misbehaving bot lost for this reason, its opponent was told, and nobody else was affected."""
    assert (outcome.record.result.winner, outcome.record.result.reason) == ("minnie", reason)
    assert "peer" in outcome.record.result.detail
    (end,) = outcome.opponent.told("end")
    assert (end["winner"], end["reason"]) == ("minnie", reason.value)
    assert_others_unhurt(outcome)


def assert_others_unhurt(outcome: Outcome) -> None:
    assert len(outcome.beside) >= 2
    assert {record.result.reason for record in outcome.beside} == {EndReason.LINE}
    # Its answer and the end of the match may cross.
    assert {each["code"] for each in outcome.opponent.told("error")} <= {Code.NO_SUCH_MATCH}


async def test_a_frame_of_100_mb() -> None:
    outcome = await misbehave("huge")
    assert_lost(outcome, EndReason.PROTOCOL_ERROR)
    assert outcome.told[-1]["code"] == 1009


async def test_half_a_frame() -> None:
    outcome = await misbehave("half_frame", control=TIME)
    assert_lost(outcome, EndReason.TIMEOUT)
    (end,) = outcome.of("end")
    assert (end["winner"], end["reason"]) == ("minnie", EndReason.TIMEOUT)


async def test_disconnects_and_comes_back_in_time() -> None:
    outcome = await misbehave("dropper", "0.1", grace_seconds=60)
    assert (outcome.record.result.winner, outcome.record.result.reason) == ("maxie", EndReason.LINE)
    assert len(outcome.of("start")) == 2
    again = [message for message in outcome.of("turn") if message["ply"] == 0]
    assert len(again) == 2
    assert again[1]["clocks"]["maxie_ms"] <= again[0]["clocks"]["maxie_ms"] - 100, "the clock ran on"
    assert_others_unhurt(outcome)


async def test_never_reads() -> None:
    outcome = await misbehave("never_reads")
    assert outcome.told[-1]["type"] == "cut", "the server has to cut it off"
    assert_lost(outcome, EndReason.DISCONNECT)
