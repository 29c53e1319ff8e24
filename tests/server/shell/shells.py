"""A shell on a virtual clock, between a store that is a list and an edge that writes at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio

from arena.protocol.messages import ClientMessage, Hello, Move, Ready, Start, Turn, Welcome
from arena.protocol.record import to_line
from arena.server.core.bot import LobbyBot
from arena.server.core.effects import (
    CloseClient,
    CloseMatch,
    DeleteSession,
    DurableEffect,
    SaveSession,
    SendToClient,
)
from arena.server.core.inputs import (
    EDGE_SHIFT,
    ClientAdmitted,
    EdgeResynced,
    MessageReceived,
    RestoreMatches,
    TurnSent,
)
from arena.server.core.settings import CoreSettings
from arena.server.loop_lag import LoopLag
from arena.server.metrics import Metrics
from arena.server.ports import AdmissionRequest, MessageToEdge, RequestResync
from arena.server.shell.authenticator import Authenticator
from arena.server.shell.shell import Shell
from arena.server.store.journal.journal import StoreUnavailable
from arena.server.store.lease import Lease
from testkit.virtual_time import CLOCK, now_ns
from tests.server.core.arena import unfinished

EDGE = 1
LATELY = 20
"""Matches of which the store tells that they ended lately."""


class ListStore:
    """A journal that keeps effects in a list, and fails or stalls when a test says so."""

    def __init__(self) -> None:
        self.kept: list[DurableEffect] = []
        self.commits: list[list[DurableEffect]] = []
        self.is_away = False
        self.error: Exception | None = None
        self.lease = Lease("", 1)
        self.lease_lost = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def commit(self, effects: Sequence[DurableEffect]) -> None:
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        if self.is_away:
            raise StoreUnavailable("the disk is full")
        self.commits.append(list(effects))
        self.kept += effects

    async def load(self, event: str | None) -> RestoreMatches:
        if self.is_away:
            raise StoreUnavailable("the disk is full")
        sessions: dict[str, bytes] = {}
        for each in self.kept:
            if isinstance(each, SaveSession):
                sessions[each.name] = each.hash
            elif isinstance(each, DeleteSession):
                sessions.pop(each.name, None)
        ended: dict[str, list[str]] = {}
        for record in [each.record for each in self.of(CloseMatch)[-LATELY:]]:
            for name in (record.players.maxie, record.players.minnie):
                ended.setdefault(name, []).append(record.match)
        return RestoreMatches([] if event is None else [*unfinished(self.kept)], sessions, ended)  # type: ignore[arg-type]

    async def record(self, match: str) -> str | None:
        for each in self.kept:
            if isinstance(each, CloseMatch) and each.record.match == match:
                return to_line(each.record)
        return None

    def of(self, kind: type[Any]) -> list[Any]:
        return [each for each in self.kept if isinstance(each, kind)]


class OpenDoor:
    """A authenticator that lets everybody in."""

    def __init__(self) -> None:
        self.shell: Shell

    def enqueue(self, request: AdmissionRequest, _bot: LobbyBot | None) -> None:
        known = self.sessions.get(request.hello.name, b"") if hasattr(self, "sessions") else b""
        secret = f"secret of {request.client}"
        enter = ClientAdmitted(
            request.client,
            request.hello,
            request.address,
            request.hello.name,
            secret,
            request.hello.role,
            stored_session=known,
        )
        self.shell.submit(enter)

    def forget_request(self, client: int) -> None:
        pass

    def forget_edge(self, edge: int) -> None:
        pass

    def complete_resync(self, here: EdgeResynced) -> EdgeResynced:
        return here

    async def run(self, shell: Shell) -> None:
        await anyio.sleep_forever()


class ListEdge:
    """An edge whose clients are lists. It reports each turn as sent at once."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.clients: dict[int, FakeClient] = {}
        self.resyncs = 0
        self.deliveries: list[list[MessageToEdge]] = []

    def deliver(self, messages: Sequence[MessageToEdge]) -> None:
        self.deliveries.append(list(messages))
        for each in messages:
            if isinstance(each, RequestResync):
                self.resyncs += 1
                self.shell.submit(
                    EdgeResynced(EDGE, [client.make_resync_entry() for client in self.clients.values()])
                )
            elif isinstance(each, (SendToClient, CloseClient)) and each.client in self.clients:
                self.clients[each.client].hear(each)

    def connect(self, name: str, session: str = "") -> FakeClient:
        number = EDGE << EDGE_SHIFT | len(self.clients) + 1
        client = self.clients[number] = FakeClient(self, number, Hello(name, pool=False, session=session))
        self.shell.submit(AdmissionRequest(number, client.hello, "192.0.2.1"))
        return client


class FakeClient:
    """A bot: it keeps all that it is sent, and plays tic-tac-toe in order of the free cells."""

    def __init__(self, edge: ListEdge, number: int, hello: Hello) -> None:
        self.edge = edge
        self.number = number
        self.hello = hello
        self.heard: list[Any] = []
        self.session = ""
        self.closed: CloseClient | None = None
        self.plays = True

    def make_resync_entry(self) -> ClientAdmitted:
        hello = Hello(self.hello.name, pool=False, session=self.session)
        return ClientAdmitted(self.number, hello, "192.0.2.1", self.hello.name, "")

    def say(self, message: ClientMessage) -> None:
        self.edge.shell.submit(MessageReceived(self.number, message, now_ns()))

    def hear(self, sent: SendToClient | CloseClient) -> None:
        if isinstance(sent, CloseClient):
            self.closed = sent
            return
        message = sent.message
        self.heard.append(message)
        if isinstance(message, Welcome):
            self.session = message.session
        elif isinstance(message, Start):
            self.say(Ready(message.match))
        elif isinstance(message, Turn):
            self.edge.shell.submit(TurnSent(self.number, message.match, message.ply, now_ns()))
            if self.plays:
                self.answer(message)

    def answer(self, turn: Turn) -> None:
        """Answer a turn that was left unanswered."""
        self.say(Move(turn.match, turn.ply, next(cell for cell in range(9) if cell not in set(turn.moves))))

    def all(self, kind: type[Any]) -> list[Any]:
        return [each for each in self.heard if isinstance(each, kind)]


@asynccontextmanager
async def running(
    store: ListStore, *, event: str | None = "serve", door: Authenticator | None = None, **settings: Any
) -> AsyncIterator[ListEdge]:
    """Yield a shell that runs, with one edge. Everybody is admitted at once unless there is a `door`."""
    open_door = OpenDoor()
    core = CoreSettings(**{"program": "test 1", "grace_ms": 30_000, **settings})
    metrics = Metrics()
    shell = open_door.shell = Shell(
        core,
        store,  # type: ignore[arg-type]
        store.record,
        door or open_door,  # type: ignore[arg-type]
        metrics,
        clock=CLOCK,
        lag=LoopLag(CLOCK, metrics.loop_seconds.observe),
        make_seed=lambda: b"seed",
        outage_patience_s=20.0,
        event=event,
    )
    edge = ListEdge(shell)
    shell.attach(EDGE, edge)
    async with anyio.create_task_group() as tasks:
        await tasks.start(shell.run)
        yield edge
        shell.stop()


async def until(condition: Any, seconds: float = 60.0) -> None:
    """Wait on the virtual clock until something holds."""
    with anyio.fail_after(seconds):
        while not condition():
            await anyio.sleep(0.001)
