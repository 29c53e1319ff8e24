"""The names of an arena, in its store: each has one connection, to whichever server.

When a server of the arena is restarted, all its bots come in elsewhere at once. Those that come in, or have gone, while one
transaction is under way are in the next one together, so that hundreds take little longer than one.
"""

from __future__ import annotations

import logging
from functools import partial

import anyio
import anyio.abc

from arena.protocol.codes import Code
from arena.protocol.messages import Hello
from arena.server.lobby.accounts import Refused
from arena.server.lobby.names import no_store
from arena.server.rooms.member import secret_hash
from arena.server.store import presences
from arena.server.store.database import Engine, StoreError, complaint, why_not
from arena.server.store.journal.journal import Journal
from arena.server.store.presences import Claim, Presence

log = logging.getLogger("arena.names")

RELEASE_SECONDS = 0.5
"""From one try to release names to the next, while the store is away."""


class ArenaNames:
    """`server.lobby.names.Names`, for all servers of an arena."""

    def __init__(self, engine: Engine, journal: Journal, tasks: anyio.abc.TaskGroup) -> None:
        self._engine = engine
        self._journal = journal
        self._tasks = tasks
        self._coming: dict[str, _Coming] = {}
        """Who is in the next transaction that lets bots in."""
        self._gone: dict[str, int] = {}
        """The connections that are in the next transaction that releases names: the latest of each name."""
        self._lets_in = False
        self._releases = False

    async def recall(self, name: str) -> bytes:
        """The hash of the secret of the name's session; empty for one that has none. Raises Refused."""
        try:
            known = await presences.recall(self._engine, [name])
        except Exception as error:
            why = complaint(error)
            if why is None:
                raise
            raise no_store(name, why) from None
        return known[name].hash if name in known else b""

    async def claim(self, hello: Hello, secret: str | None) -> tuple[int, int]:
        """Have the name on this server from now on. Raises Refused."""
        name = hello.name
        while (before := self._coming.get(name)) is not None:
            await before.done.wait()
        kept = secret_hash(hello.session if secret is None else secret)
        coming = self._coming[name] = _Coming(Claim(kept, returns=secret is None))
        if not self._lets_in:
            self._lets_in = True
            self._tasks.start_soon(self._let_in)
        await coming.done.wait()
        if coming.error is not None:
            why = why_not(coming.error)
            if why is None:
                raise coming.error
            raise no_store(name, why)
        if coming.presence is None:
            raise Refused(Code.NAME_TAKEN, f"a bot called {name!r} is connected already")
        return coming.presence.entry, coming.presence.session

    async def _let_in(self) -> None:
        try:
            while self._coming:
                crowd, self._coming = self._coming, {}
                await self._let_in_together(crowd)
        finally:
            self._lets_in = False
            for each in self._coming.values():
                each.end(error=StoreError("the server ends"))

    async def _let_in_together(self, crowd: dict[str, _Coming]) -> None:
        claims = {name: each.claim for name, each in crowd.items()}
        let_in: dict[str, Presence] = {}
        error: Exception | None = StoreError("the server ends")
        try:
            let_in = await self._journal.write(
                partial(presences.claim, lease=self._journal.lease, claims=claims)
            )
            error = None
        except Exception as failed:  # noqa: BLE001  it is raised where each of them waits
            error = failed
        finally:
            for name, each in crowd.items():
                each.end(let_in.get(name), error)

    def release(self, name: str, entry: int) -> None:
        """Let the name be taken without its session, on any server."""
        self._gone[name] = max(entry, self._gone.get(name, 0))
        if not self._releases:
            self._releases = True
            self._tasks.start_soon(self._release)

    async def _release(self) -> None:
        try:
            while self._gone:
                gone, self._gone = self._gone, {}
                try:
                    await self._journal.write(partial(presences.release, entries=gone))
                except StoreError:
                    return  # the server ends, and with its lease what it holds
                except Exception as error:
                    if complaint(error) is None:
                        raise
                    self._gone = gone | self._gone
                    await anyio.sleep(RELEASE_SECONDS)
        finally:
            self._releases = False


class _Coming:
    """A bot that waits to be let in."""

    def __init__(self, claim: Claim) -> None:
        self.claim = claim
        self.done = anyio.Event()
        self.presence: Presence | None = None
        """None where its name is another's."""
        self.error: Exception | None = None
        """Why nobody was let in."""

    def end(self, presence: Presence | None = None, error: Exception | None = None) -> None:
        """Let it know."""
        self.presence, self.error = presence, error
        self.done.set()
