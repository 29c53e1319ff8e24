"""The lease of a journal, and when it is renewed: by the next transaction that comes, or by whoever is woken where none does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

import sqlalchemy as sa

from arena.server.store import lease as leases
from arena.server.store.lease import Lease


class Renewal:
    """A lease that is renewed in time, as long as any transaction gets through: no crowd of them keeps it waiting."""

    def __init__(self, lease: Lease, wake: Callable[[], None]) -> None:
        """Know of the lease that is to be; `begin` takes down the one that was given.

        wake: called when the lease is to be renewed; must see to a transaction that calls `require`
        """
        self.lease = lease
        self._wake = wake
        self._at = 0.0
        """When it is to be renewed, in monotonic seconds."""
        self._reminder: asyncio.TimerHandle | None = None

    @property
    def due(self) -> bool:
        """Whether the next transaction is to renew it."""
        return monotonic() >= self._at

    def begin(self, lease: Lease) -> None:
        """Keep a lease that was taken now, from the running event loop."""
        self.lease = lease
        self.tried()
        self._remind()

    def tried(self) -> None:
        """Renew it no sooner than when it would be due had it been renewed now."""
        self._at = monotonic() + self.lease.renew_seconds

    def hasten(self) -> None:
        """Renew it now: there is reason to think that it is lost."""
        self._at = 0.0
        self._wake()

    def require(self, connection: sa.Connection) -> None:
        """Keep the name until the end of a transaction, and renew the lease where that is due. Raises LeaseLost."""
        if not self.due:
            leases.require(connection, self.lease)
            return
        leases.renew(connection, self.lease)
        self.tried()

    def stop(self) -> None:
        """Wake nobody any more."""
        if self._reminder is not None:
            self._reminder.cancel()

    def _remind(self) -> None:
        wait = self._at - monotonic()
        if wait <= 0:
            self._wake()
            wait = self.lease.renew_seconds
        self._reminder = asyncio.get_running_loop().call_later(wait, self._remind)
