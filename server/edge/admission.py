"""Admission control: limits on the number of connections, checked before a byte is read.

A connection counts towards the limits from its start, not from the end of its handshake. Behind a trusted proxy
(setting `server.proxies`), the header X-Forwarded-For names the client's address.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Collection
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from arena.clock import TimeSource
from arena.server.abuse_counter import MAX_ABUSE_REFUSAL_SECONDS, AbuseCounter, make_address_key
from arena.server.core.limits import ServerLimits
from arena.server.edge.request import Request
from arena.server.edge.token_bucket import TokenBucket

log = logging.getLogger("arena.admission")

MAX_READ_BURST_SECONDS = 0.2
"""Largest burst of chunks (reads from a socket) from an address, in seconds of the rate that the address is allowed.

An address that may send 500 chunks per second, for example, may send 100 at once.
"""
MIN_READ_CHUNKS_PER_BURST = 8
"""Minimum number of chunks (reads from a socket) that any address may send at once, even if its allowance is smaller."""
MIN_CONNECTION_SHARE_FOR_ADDRESS_LIMIT = 0.25
"""Share of the allowed connections that must be open before the limit per address applies.

Below this share, one address may have more connections, because all machines of a lecture hall may share an address.
"""
MAX_CONNECTION_SHARE_FOR_KEEP_ALIVE = 0.5
"""Share of the allowed connections above which a connection is closed after one plain request, to make room for others.

The limit applies to all connections together, and to those of each address. A plain request is an HTTP request that opens no
websocket.
"""
MAX_REFUSED_CONNECTIONS_HELD_OPEN = 256
"""Maximum number of refused connections that are held open, to slow down their clients.

Further connections are closed immediately.
"""
REFUSED_CONNECTION_HOLD_SECONDS = 1.0
"""Time for which a refused connection is held open, in seconds. The wait slows down a client that reconnects immediately."""


class ConnectionAdmission:
    """Admission control of one edge (process that holds connections), which counts connections and limits their number."""

    def __init__(
        self,
        limits: ServerLimits,
        trusted_proxies: Collection[str],
        clock: TimeSource,
        abuse_refusal_seconds: float = MAX_ABUSE_REFUSAL_SECONDS,
    ) -> None:
        """Start without connections.

        trusted_proxies        addresses or networks of proxies whose X-Forwarded-For is trusted
        abuse_refusal_seconds  time for which an address with many misbehaving connections is refused
        """
        self.limits = limits
        self._abuse_refusal_seconds = abuse_refusal_seconds
        self._clock = clock
        self._trusted_networks: list[IPv4Network | IPv6Network] = [
            ip_network(proxy) for proxy in trusted_proxies
        ]
        self._misbehaviour_counter = AbuseCounter(abuse_refusal_seconds)
        self._read_buckets: dict[str, TokenBucket] = {}
        self._last_refusal_log_s = float("-inf")
        """Time at which the refusal of a connection was last logged, in monotonic seconds; -inf before the first."""
        self._is_closed = False
        self._refused_transports: set[asyncio.Transport] = set()
        self.open_connection_counts: Counter[str] = Counter()
        """Number of open connections by IPv4 address, or by /64 network for IPv6."""

    def find_or_add_read_bucket(self, address: str) -> TokenBucket:
        """Return the token bucket that all connections of an address share, and create it if it is new.

        Each chunk of received bytes takes a token. A chunk that finds no token waits in the fair queue of the process, which
        serves one address after another.
        """
        key = make_address_key(address)
        bucket = self._read_buckets.get(key)
        if bucket is None:
            rate = self.limits.moves_per_second
            burst = max(MIN_READ_CHUNKS_PER_BURST, int(rate * MAX_READ_BURST_SECONDS))
            bucket = self._read_buckets[key] = TokenBucket(rate, burst, self._clock.now_ns())
        return bucket

    def find_client_address(self, request: Request, peer_address: str) -> str:
        """Return the address of a request's client: the one that a trusted proxy names; otherwise that of the socket's peer."""
        if not self.is_trusted_proxy(peer_address):
            return peer_address
        return _read_address_from_forwarded_for(request) or peer_address

    def is_trusted_proxy(self, address: str) -> bool:
        """Return True if an address belongs to a trusted proxy, as listed in the setting `server.proxies`."""
        if not self._trusted_networks:
            return False
        try:
            parsed = ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._trusted_networks)

    def may_connection_stay_open(self, address: str) -> bool:
        """Return True if a connection from this address may stay open after a plain HTTP request, because few are open.

        The limit is `MAX_CONNECTION_SHARE_FOR_KEEP_ALIVE` of the allowed connections, in total and for the address. For a
        trusted proxy, only the total counts.
        """
        limits = self.limits
        if (
            self._is_closed
            or self.open_connection_counts.total() > MAX_CONNECTION_SHARE_FOR_KEEP_ALIVE * limits.connections
        ):
            return False
        return (
            self.is_trusted_proxy(address)
            or self.open_connection_counts[make_address_key(address)]
            <= MAX_CONNECTION_SHARE_FOR_KEEP_ALIVE * limits.connections_per_address
        )

    def try_admit_connection(self, address: str) -> bool:
        """Count one more connection from this address and return True.

        Return False if that would exceed a limit, if the address is refused because of misbehaviour, or after `close`. The
        limits per address do not apply to a trusted proxy.
        """
        limits, is_proxy = self.limits, self.is_trusted_proxy(address)
        if self._is_closed or self.open_connection_counts.total() >= limits.connections:
            self._log_refusal(
                "refused: %d connections are open, the maximum", self.open_connection_counts.total(), address
            )
            return False
        if (
            not is_proxy
            and self._misbehaviour_counter.get_refusal_seconds_left(address, self._clock.now()) > 0
        ):
            return False
        key = make_address_key(address)
        is_crowded = (
            self.open_connection_counts.total() >= MIN_CONNECTION_SHARE_FOR_ADDRESS_LIMIT * limits.connections
        )
        if not is_proxy and is_crowded and self.open_connection_counts[key] >= limits.connections_per_address:
            self._log_refusal(
                "refused: the address already has %d connections, the maximum",
                limits.connections_per_address,
                address,
            )
            return False
        self.open_connection_counts[key] += 1
        return True

    def _log_refusal(self, message_format: str, connection_count: int, address: str) -> None:
        """Write the refusal of a connection to the server's log, at most once per second.

        message_format    line for the log, with a `%d` in place of the number of connections
        connection_count  number of connections for that place: those open now, or the maximum per address
        address           address of the refused client
        """
        now = self._clock.now()
        if now - self._last_refusal_log_s >= 1:
            self._last_refusal_log_s = now
            log.warning(message_format, connection_count, extra={"address": address})

    def hold_and_close_refused_connection(self, transport: asyncio.Transport) -> None:
        """Close a refused connection after `REFUSED_CONNECTION_HOLD_SECONDS`, without reading from it.

        Close it at once if `MAX_REFUSED_CONNECTIONS_HELD_OPEN` connections are held open already.
        """
        if self._is_closed or len(self._refused_transports) >= MAX_REFUSED_CONNECTIONS_HELD_OPEN:
            transport.abort()
            return
        transport.pause_reading()
        self._refused_transports.add(transport)
        self._clock.call_later(REFUSED_CONNECTION_HOLD_SECONDS, self._abort_refused_connection, transport)

    def _abort_refused_connection(self, transport: asyncio.Transport) -> None:
        self._refused_transports.discard(transport)
        transport.abort()

    def close(self) -> None:
        """Admit no more connections, and close the refused ones that are held open."""
        self._is_closed = True
        for transport in list(self._refused_transports):
            self._abort_refused_connection(transport)

    def stop_counting_connection(self, address: str) -> None:
        """Stop counting an admitted connection from this address, because the connection has ended."""
        key = make_address_key(address)
        self.open_connection_counts[key] -= 1
        if self.open_connection_counts[key] <= 0:
            del self.open_connection_counts[key]
            self._read_buckets.pop(key, None)

    def record_misbehaving_connection(self, address: str) -> None:
        """Count a connection closed for misbehaviour, such as a protocol error, unless it came from a trusted proxy.

        After `ServerLimits.cut_offs` such connections in a minute, the address is refused for a while.
        """
        if self.is_trusted_proxy(address):
            return
        self._misbehaviour_counter.record_abuse(address, self._clock.now(), self.limits.cut_offs)
        if self._misbehaviour_counter.get_refusal_seconds_left(address, self._clock.now()) > 0:
            log.warning(
                "refused for %g s: too many of its connections misbehaved",
                self._abuse_refusal_seconds,
                extra={"address": address},
            )


def _read_address_from_forwarded_for(request: Request) -> str | None:
    """Return the client's address: the last entry of X-Forwarded-For, added by the proxy; None if missing or invalid."""
    values = request.headers.get_all("X-Forwarded-For")
    if not values:
        return None
    last_entry = values[-1].rpartition(",")[2].strip()
    try:
        return str(ip_address(last_entry))
    except ValueError:
        return None
