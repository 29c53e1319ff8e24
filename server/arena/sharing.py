"""What addresses ask of one server counts on all of an arena: limits hold for the arena, and not for each server anew.

It is told twice a second, so whoever asks everywhere at once has as much more as it gets within that time.
"""

from __future__ import annotations

from time import monotonic

from arena.server.arena.messages import Spent
from arena.server.lobby.accounts import Accounts
from arena.server.net.admission import Admission
from arena.server.net.by_address.misdeeds import Misdeeds
from arena.server.net.by_address.work import WorkBudget

MOST_WRONG = 100
"""What an address has done to another server counts so often at a time: it is refused for much less."""


class Sharing:
    """The limits of one server, as far as they are by address."""

    def __init__(
        self,
        misdeeds: Misdeeds,
        work: WorkBudget,
        accounts: Accounts,
        admission: Admission,
    ) -> None:
        self._misdeeds = misdeeds
        self._work = work
        self._accounts = accounts
        self._admission = admission

    def spent(self) -> Spent:
        """What addresses have asked of this server since it was asked last."""
        return Spent(*self._misdeeds.take(self._admission.open))

    def connections(self) -> Spent:
        """How many connections addresses have here, for a server that is told for the first time."""
        return Spent({}, {}, {}, dict(self._admission.open))

    def asked(self, server: str, spent: Spent) -> None:
        """Count what addresses have asked of another server."""
        self._misdeeds.told(server, spent.connections)
        for key, cost in spent.work.items():
            self._work.take(key, cost, monotonic())
        for key, count in spent.wrong.items():
            for _ in range(min(count, MOST_WRONG)):
                self._accounts.wrong_elsewhere(key)
        for key, count in spent.cut_off.items():
            for _ in range(min(count, MOST_WRONG)):
                self._admission.cut_off_elsewhere(key)

    def forget(self, server: str) -> None:
        """A server has ended, and its connections with it."""
        self._misdeeds.forget(server)
