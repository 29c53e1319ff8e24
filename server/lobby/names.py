"""Who has which name: kept before a bot is told of its session, so that it can always return with it."""

from __future__ import annotations

import logging
from typing import Protocol

from arena.protocol.codes import Code
from arena.protocol.messages import Hello
from arena.server.lobby.accounts import Refused
from arena.server.rooms.member import secret_hash
from arena.server.store.journal.journal import Journal, JournalFailed

log = logging.getLogger("arena.names")


class Names(Protocol):
    """Where the sessions are kept."""

    async def recall(self, name: str) -> bytes:
        """The hash of the secret of a name's session, where the bot may have been let in elsewhere; else empty. Raises Refused."""
        ...

    async def claim(self, hello: Hello, secret: str | None) -> tuple[int, int]:
        """Keep the new session of a bot that comes in, or that it returns to the one it had (None). Raises Refused.

        The number of its connection, and that of the first one of the session; 0 where nobody counts them.
        """
        ...

    def release(self, name: str, entry: int) -> None:
        """A bot's connection of that number has ended."""


class OwnNames:
    """The names of a server that is an arena by itself: `Names`."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def recall(self, name: str) -> bytes:  # noqa: ARG002  nobody is let in elsewhere
        """Nothing: whoever is known is a member of the lobby."""
        return b""

    async def claim(self, hello: Hello, secret: str | None) -> tuple[int, int]:
        """Keep a new session in the journal. Raises Refused."""
        if secret is not None:
            try:
                await self._journal.durable(self._journal.keep_session(hello.name, secret_hash(secret)))
            except JournalFailed as error:
                raise no_store(hello.name, str(error)) from None
        return 0, 0

    def release(self, name: str, entry: int) -> None:
        """Nothing: nobody else asks for it."""


def no_store(name: str, why: str) -> Refused:
    """A bot is refused because the store does not answer; the log tells why."""
    log.error("no session: %s", why.partition("\n")[0], extra={"bot": name})
    return Refused(Code.SERVER_FULL, "the store does not answer: try again")
