"""What addresses have asked of one server, and done to it, for the other servers of its arena: they count it as their own."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from arena.server.net.by_address.failed_logins import source

MOST = 5_000
"""Addresses that are told of at a time; of more, those that asked for most."""


class Asked(NamedTuple):
    """What addresses have asked for and done since it was told last; `connections` is as of now."""

    work: dict[str, int]
    """Work in µs."""
    wrong: dict[str, int]
    """Wrong tokens."""
    cut_off: dict[str, int]
    """Connections that had to be cut off."""
    connections: dict[str, int]


class Misdeeds:
    """What is counted here, and what the others have told. Keys are what counts as one address."""

    def __init__(self, *, shared: bool) -> None:
        """`shared`: whether there are others to be told."""
        self._shared = shared
        self._work: Counter[str] = Counter()
        self._wrong: Counter[str] = Counter()
        self._cut_off: Counter[str] = Counter()
        self._elsewhere: dict[str, dict[str, int]] = {}
        """By server, the connections that addresses have there."""

    def worked(self, key: str, cost: float) -> None:
        """An address has asked for so many µs of work."""
        if self._shared:
            self._work[key] += int(cost)

    def wrong(self, address: str) -> None:
        """A wrong token came from an address."""
        if self._shared:
            self._wrong[source(address)] += 1

    def cut_off(self, address: str) -> None:
        """A connection from an address had to be cut off."""
        if self._shared:
            self._cut_off[source(address)] += 1

    def take(self, connections: Counter[str]) -> Asked:
        """What is to be told now, with the connections that there are."""
        counted = self._work, self._wrong, self._cut_off
        self._work, self._wrong, self._cut_off = Counter(), Counter(), Counter()
        return Asked(*(dict(each.most_common(MOST)) for each in (*counted, connections)))

    def told(self, server: str, connections: dict[str, int]) -> None:
        """Another server has told how many connections it has by address."""
        self._elsewhere[server] = connections

    def forget(self, server: str) -> None:
        """A server has ended."""
        self._elsewhere.pop(server, None)

    def connections(self, key: str) -> int:
        """How many connections an address has to the others."""
        return sum(each.get(key, 0) for each in self._elsewhere.values()) if self._elsewhere else 0
