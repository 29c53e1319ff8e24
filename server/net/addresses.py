"""Where a server listens, as text: for bots from elsewhere, for those on its own machine, and for its host."""

from __future__ import annotations

import errno
from ipaddress import ip_address
from ssl import SSLContext
from typing import Any

LOOPBACK = "127.0.0.1"


def url(host: str, port: int, tls: SSLContext | None = None) -> str:
    """What bots are given to connect to a listener."""
    return f"{'wss' if tls else 'ws'}://{f'[{host}]' if ':' in host else host}:{port}"


def inside_url(bound: tuple[Any, ...], tls: SSLContext | None) -> str | None:
    """The loopback address of a listener's socket; None where bots need one of their own.

    A certificate is not made out for a loopback address, and one outer address does not include it.
    """
    address = ip_address(bound[0])
    if tls is not None or not (address.is_loopback or address.is_unspecified):
        return None
    if address.is_unspecified:
        return url(LOOPBACK if address.version == 4 else "::1", bound[1])
    return url(str(address), bound[1])


def listen_problem(host: str, port: int, error: OSError) -> str:
    """Why an address cannot be listened on, and what would help, in one line."""
    where = f"{host}:{port}"
    if error.errno == errno.EADDRINUSE:
        return f"cannot listen on {where}: the port is in use; choose another, or 0 for any free one"
    return f"cannot listen on {where}: {error.strerror or error}"


def host_of(peer: object) -> str:
    """The address of a socket's peer, an IPv4 one always as such; a Unix socket's is its own kind."""
    if not (isinstance(peer, tuple) and peer):
        return "local"
    address = str(peer[0]).partition("%")[0]
    return address.removeprefix("::ffff:") if "." in address else address
