"""Service order: keys, such as owners of bots, get a match in turn. The key that has gone longest without one is first."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

from arena.server.core.bounded_dict import BoundedDict

MAX_REMEMBERED_CLIENT_KEYS = 10_000
"""Maximum number of keys of clients, such as owners, to remember. The least recently served key is forgotten first."""

K = TypeVar("K", bound=Hashable)


class ServiceOrder(Generic[K]):
    """Order in which keys, such as owners of bots, are served (get a match): the least recently served key comes first.

    Services are numbered, and the number of each key's last service is kept. All methods take constant time.
    """

    def __init__(self) -> None:
        self.service_count = 0
        """Number of services so far. It is also the number of the last service: the first one has number 1."""
        self._last_services = BoundedDict[K, int](MAX_REMEMBERED_CLIENT_KEYS)

    def get_last_service_number(self, key: K) -> int:
        """Return the number of the key's last service (the last time that it got a match); 0 if it had none."""
        return self._last_services.get(key, 0)

    def record_service(self, *keys: K) -> None:
        """Record that these keys are served together, by one match: each gets the number of this service."""
        self.service_count += 1
        for key in keys:
            self._last_services[key] = self.service_count
