"""What the connections of one server share: who comes in, what is answered, and the tasks in which their work is done."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from arena.server.net.admission import Admission
from arena.server.net.answers import Pages
from arena.server.net.delivery import Receiver
from arena.server.net.limits import HostLimits

log = logging.getLogger("arena.connection")

Peer_contra = TypeVar("Peer_contra", contravariant=True)  # a connection


class Service(Protocol[Peer_contra]):
    """A server as its connections see it (server.net.server)."""

    limits: HostLimits
    admission: Admission
    pages: Pages
    program: str
    any_origin: bool

    def receiver(self, connection: Peer_contra) -> Receiver:
        """Make the receiver of a connection whose opening handshake is done."""
        ...

    def start_soon(self, job: Callable[[], Awaitable[None]]) -> None:
        """Run `job`, which does not raise, in a task."""
        ...

    def opened(self, connection: Peer_contra) -> None:
        """A connection was let in."""
        ...

    def ended(self, connection: Peer_contra) -> None:
        """A connection that was let in is over."""
        ...


async def logged(job: Callable[[], Awaitable[None]], address: str, failed: Callable[[], None]) -> None:
    """Do the work of a connection from an address; an exception is logged, and `failed` is called."""
    try:
        await job()
    except Exception:
        log.exception("a connection fails", extra={"address": address})
        failed()
