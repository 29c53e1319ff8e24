"""The names of an arena, in its store: each has one connection, to whichever server."""

from __future__ import annotations

import logging
from functools import partial

import anyio
import anyio.abc

from protocol.codes import Code
from protocol.messages import Hello
from server.lobby.accounts import Refused
from server.lobby.names import no_store
from server.rooms.member import secret_hash
from server.store import arena as store
from server.store.database import Engine, StoreError, complaint, why_not
from server.store.journal.journal import Journal

log = logging.getLogger("arena.names")

RELEASE_SECONDS = 0.5
"""From one try to release a name to the next, while the store is away."""


class ArenaNames:
    """`server.lobby.names.Names`, for all servers of an arena."""

    def __init__(self, engine: Engine, journal: Journal, tasks: anyio.abc.TaskGroup) -> None:
        self._engine = engine
        self._journal = journal
        self._tasks = tasks

    async def recall(self, name: str) -> bytes:
        """The hash of the secret of the name's session; empty for one that has none. Raises Refused."""
        try:
            known = await store.recall(self._engine, name)
        except Exception as error:
            why = complaint(error)
            if why is None:
                raise
            raise no_store(name, why) from None
        return b"" if known is None else known.hash

    async def claim(self, hello: Hello, secret: str | None) -> tuple[int, int]:
        """Have the name on this server from now on. Raises Refused."""
        kept = secret_hash(hello.session if secret is None else secret)
        claim = partial(
            store.claim,
            lease=self._journal.lease,
            name=hello.name,
            secret=kept,
            returns=secret is None,
        )
        try:
            known = await self._journal.write(claim)
        except store.NameTaken:
            raise Refused(Code.NAME_TAKEN, f"a bot called {hello.name!r} is connected already") from None
        except Exception as error:
            why = why_not(error)
            if why is None:
                raise
            raise no_store(hello.name, why) from None
        return known.entry, known.session

    def release(self, name: str, entry: int) -> None:
        """Let the name be taken without its session, on any server."""
        self._tasks.start_soon(self._release, name, entry)

    async def _release(self, name: str, entry: int) -> None:
        while True:
            try:
                await self._journal.write(partial(store.release, name=name, entry=entry))
            except StoreError:
                return  # the server ends, and with its lease what it holds
            except Exception as error:
                if complaint(error) is None:
                    raise
                await anyio.sleep(RELEASE_SECONDS)
            else:
                return
