"""Addresses of a server as text: for bots elsewhere, for bots on this machine, and for the host."""

from __future__ import annotations

import errno
from ipaddress import ip_address
from ssl import SSLContext
from typing import Any

LOOPBACK = "127.0.0.1"


def url(host: str, port: int, tls: SSLContext | None = None) -> str:
    """Return the URL for bots to connect to a listener."""
    return f"{'wss' if tls else 'ws'}://{f'[{host}]' if ':' in host else host}:{port}"


def inside_url(bound: tuple[Any, ...], tls: SSLContext | None) -> str | None:
    """Return the loopback URL of a listener's socket; None if bots on this machine need a separate listener.

    A certificate is not issued for a loopback address, and a socket bound to an outer address does not accept loopback.
    """
    address = ip_address(bound[0])
    if tls is not None or not (address.is_loopback or address.is_unspecified):
        return None
    if address.is_unspecified:
        return url(LOOPBACK if address.version == 4 else "::1", bound[1])
    return url(str(address), bound[1])


def listen_problem(host: str, port: int, error: OSError) -> str:
    """Return the reason that an address cannot be listened on, and a remedy, in one line."""
    where = f"{host}:{port}"
    if error.errno == errno.EADDRINUSE:
        return f"cannot listen on {where}: the port is in use; choose another, or 0 for any free one"
    return f"cannot listen on {where}: {error.strerror or error}"


def host_of(peer: object) -> str:
    """Return the address of a socket's peer. A mapped IPv4 address is returned as IPv4; a Unix socket as `local`."""
    if not (isinstance(peer, tuple) and peer):
        return "local"
    address = str(peer[0]).partition("%")[0]
    return address.removeprefix("::ffff:") if "." in address else address
