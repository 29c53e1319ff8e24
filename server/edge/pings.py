"""Pings of one connection: the unanswered pings, and the round-trip times of the answered ones."""

from __future__ import annotations

from random import getrandbits

from arena.match.lag import RecentPings

PING_INTERVAL_SECONDS = 10.0
"""Time between two pings of a connection, in seconds."""
PONG_TIMEOUT_SECONDS = 20.0
"""Longest time that a ping may stay unanswered before the connection is closed, in seconds."""


class PingTracker:
    """Tracker of the unanswered pings and the round-trip times of one connection. Times are in monotonic ns."""

    __slots__ = ("_round_trip_times", "_sent_times", "min_round_trip_ns")

    def __init__(self) -> None:
        self._sent_times: dict[bytes, int] = {}
        """Time at which each unanswered ping was sent, by payload, oldest first."""
        self._round_trip_times = RecentPings()
        self.min_round_trip_ns = 0
        """Shortest round-trip time of the last answered pings, in ns; 0 if no ping has been answered."""

    def is_pong_overdue(self, now_ns: int) -> bool:
        """Return True if a ping has been unanswered for `PONG_TIMEOUT_SECONDS`."""
        return now_ns - next(iter(self._sent_times.values()), now_ns) >= PONG_TIMEOUT_SECONDS * 1e9

    def record_ping_and_make_payload(self, now_ns: int) -> bytes:
        """Record a ping that is sent at `now_ns`, and return a random payload for it, which a client cannot guess."""
        payload = getrandbits(32).to_bytes(4, "big")
        self._sent_times[payload] = now_ns
        return payload

    def handle_pong(self, payload: bytes, now_ns: int) -> None:
        """Handle a pong, which also answers all earlier pings (RFC 6455, section 5.5.3)."""
        sent_at = self._sent_times.get(payload)
        if sent_at is None:
            return  # an unsolicited pong is allowed
        self._round_trip_times.add_ping(now_ns - sent_at)
        self.min_round_trip_ns = self._round_trip_times.smallest_ping_ns
        while payload in self._sent_times:
            del self._sent_times[next(iter(self._sent_times))]
