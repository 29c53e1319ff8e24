"""Shell for tests: on a virtual clock, with a journal and an edge that keep everything in lists."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio

from arena.protocol.messages import ClientMessage, Hello, Move, Ready, Start, Turn, Welcome
from arena.protocol.record import format_record_line
from arena.server.core.bot import LobbyBot
from arena.server.core.effects import (
    CloseClient,
    DeleteSession,
    DurableEffect,
    SaveFinishedMatch,
    SaveSession,
    SendToClient,
)
from arena.server.core.inputs import (
    EDGE_NUMBER_SHIFT_BITS,
    ClientAdmitted,
    EdgeResynced,
    MessageReceived,
    RestoredState,
    TurnSent,
)
from arena.server.core.settings import CoreSettings
from arena.server.loop_lag import EventLoopLag
from arena.server.ports import AdmissionRequest, MessageToEdge, RequestResync
from arena.server.shell.authenticator import Authenticator
from arena.server.shell.shell import Shell
from arena.server.store.journal.journal import StoreUnavailable
from arena.server.store.lease import Lease
from testkit.virtual_time import VIRTUAL_CLOCK, now_ns
from tests.server.core.arena import list_unfinished

EDGE = 1
MAX_RECENT_MATCHES = 20
"""Number of finished matches that `ListStore.load_restart_state` reports as recent."""


class ListStore:
    """Substitute for the journal, which keeps effects in a list.

    Commits wait while `gate` is not set, and fail while `is_away` is True or `error` is set.
    """

    def __init__(self) -> None:
        self.effects: list[DurableEffect] = []
        """All committed effects."""
        self.commits: list[list[DurableEffect]] = []
        self.is_away = False
        self.error: Exception | None = None
        self.failing_lookups = 0
        """Number of the next calls of `record` that fail because the connection to the store is lost."""
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
        self.effects += effects

    async def load_restart_state(self, event: str | None) -> RestoredState:
        if self.is_away:
            raise StoreUnavailable("the disk is full")
        sessions: dict[str, bytes] = {}
        for each in self.effects:
            if isinstance(each, SaveSession):
                sessions[each.bot_name] = each.secret_hash
            elif isinstance(each, DeleteSession):
                sessions.pop(each.bot_name, None)
        ended: dict[str, list[str]] = {}
        for record in [each.record for each in self.of(SaveFinishedMatch)[-MAX_RECENT_MATCHES:]]:
            for name in (record.players.maxie, record.players.minnie):
                ended.setdefault(name, []).append(record.match)
        return RestoredState([] if event is None else [*list_unfinished(self.effects)], sessions, ended)  # type: ignore[arg-type]

    async def record(self, match: str) -> str | None:
        if self.failing_lookups:
            self.failing_lookups -= 1
            raise ConnectionError("the line is cut")
        for each in self.effects:
            if isinstance(each, SaveFinishedMatch) and each.record.match == match:
                return format_record_line(each.record)
        return None

    def of(self, kind: type[Any]) -> list[Any]:
        return [each for each in self.effects if isinstance(each, kind)]


class AdmitAll:
    """Authenticator that admits every client."""

    def __init__(self) -> None:
        self.shell: Shell

    def enqueue_or_admit_client(self, request: AdmissionRequest, _bot: LobbyBot | None) -> None:
        known = self.sessions.get(request.hello.name, b"") if hasattr(self, "sessions") else b""
        secret = f"secret of {request.client_number}"
        admission = ClientAdmitted(
            request.client_number,
            request.hello,
            request.address,
            request.hello.name,
            secret,
            request.hello.role,
            stored_session_hash=known,
        )
        self.shell.submit(admission)

    def forget_request(self, client: int) -> None:
        pass

    def forget_requests_of_edge(self, edge: int) -> None:
        pass

    def fill_in_resynced_clients(self, resync: EdgeResynced) -> EdgeResynced:
        return resync

    async def admit_queued_clients(self, shell: Shell) -> None:
        await anyio.sleep_forever()


class ListEdge:
    """Edge without sockets. Its clients report each turn as sent at once."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.clients: dict[int, FakeClient] = {}
        self.resync_count = 0
        self.deliveries: list[list[MessageToEdge]] = []

    def deliver_from_core(self, messages: Sequence[MessageToEdge]) -> None:
        self.deliveries.append(list(messages))
        for each in messages:
            if isinstance(each, RequestResync):
                self.resync_count += 1
                self.shell.submit(
                    EdgeResynced(EDGE, [client.make_resync_entry() for client in self.clients.values()])
                )
            elif isinstance(each, (SendToClient, CloseClient)) and each.client_number in self.clients:
                self.clients[each.client_number].receive(each)

    def connect(self, name: str, session: str = "") -> FakeClient:
        number = EDGE << EDGE_NUMBER_SHIFT_BITS | len(self.clients) + 1
        client = self.clients[number] = FakeClient(self, number, Hello(name, pool=False, session=session))
        self.shell.submit(AdmissionRequest(number, client.hello, "192.0.2.1"))
        return client


class FakeClient:
    """Bot that keeps all messages it receives, and plays the first free cell of tic-tac-toe while `plays` is True."""

    def __init__(self, edge: ListEdge, number: int, hello: Hello) -> None:
        self.edge = edge
        self.number = number
        self.hello = hello
        self.received: list[Any] = []
        self.session = ""
        self.closed: CloseClient | None = None
        self.plays = True

    def make_resync_entry(self) -> ClientAdmitted:
        hello = Hello(self.hello.name, pool=False, session=self.session)
        return ClientAdmitted(self.number, hello, "192.0.2.1", self.hello.name, "")

    def send(self, message: ClientMessage) -> None:
        self.edge.shell.submit(MessageReceived(self.number, message, now_ns()))

    def receive(self, sent: SendToClient | CloseClient) -> None:
        if isinstance(sent, CloseClient):
            self.closed = sent
            return
        message = sent.message
        self.received.append(message)
        if isinstance(message, Welcome):
            self.session = message.session
        elif isinstance(message, Start):
            self.send(Ready(message.match))
        elif isinstance(message, Turn):
            self.edge.shell.submit(TurnSent(self.number, message.match, message.ply, now_ns()))
            if self.plays:
                self.answer(message)

    def answer(self, turn: Turn) -> None:
        """Answer a turn with the first free cell."""
        self.send(Move(turn.match, turn.ply, next(cell for cell in range(9) if cell not in set(turn.moves))))

    def all(self, kind: type[Any]) -> list[Any]:
        return [each for each in self.received if isinstance(each, kind)]


@asynccontextmanager
async def running(
    store: ListStore,
    *,
    event: str | None = "serve",
    authenticator: Authenticator | None = None,
    **settings: Any,
) -> AsyncIterator[ListEdge]:
    """Run a shell during the block, and yield its only edge.

    authenticator  authenticator of the clients; None to admit every client at once
    """
    admit_all = AdmitAll()
    core = CoreSettings(**{"server_program": "test 1", "reconnect_grace_ms": 30_000, **settings})
    shell = admit_all.shell = Shell(
        core,
        store,  # type: ignore[arg-type]
        store.record,
        authenticator or admit_all,  # type: ignore[arg-type]
        clock=VIRTUAL_CLOCK,
        loop_lag=EventLoopLag(VIRTUAL_CLOCK, lambda _seconds: None),
        make_seed=lambda: b"seed",
        max_store_outage_s=20.0,
        event_name=event,
    )
    edge = ListEdge(shell)
    shell.attach_edge(EDGE, edge)
    async with anyio.create_task_group() as tasks:
        await tasks.start(shell.run)
        yield edge
        shell.stop_after_queued_inputs()


async def until(condition: Any, seconds: float = 60.0) -> None:
    """Wait on the virtual clock until `condition()` is true. Raises TimeoutError after `seconds`."""
    with anyio.fail_after(seconds):
        while not condition():
            await anyio.sleep(0.001)
