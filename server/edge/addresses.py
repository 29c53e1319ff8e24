"""Addresses as text: URLs for bots, error lines for the server's operator, and the addresses of peers."""

from __future__ import annotations

import errno
import socket
from ipaddress import ip_address
from ssl import SSLContext
from typing import Any

LOOPBACK_ADDRESS = "127.0.0.1"
REASON_BY_LISTEN_ERRNO = {
    errno.EADDRINUSE: "the port is in use; choose another, or 0 for any free one",
    errno.EADDRNOTAVAIL: "this machine does not have that address; write one of its own, or 0.0.0.0 for all of them",
    errno.EACCES: "this user may not use that port; choose one above 1023",
}
"""One-line reason why a server cannot listen on an address, with a remedy, by error number (`errno`)."""


def make_websocket_url(host: str, port: int, tls: SSLContext | None = None) -> str:
    """Return the URL at which bots connect to a listener: `ws://HOST:PORT`, or `wss://HOST:PORT` with TLS."""
    return f"{'wss' if tls else 'ws'}://{f'[{host}]' if ':' in host else host}:{port}"


def make_loopback_url(bound_address: tuple[Any, ...], tls: SSLContext | None) -> str | None:
    """Return a loopback URL at which bots on this machine reach a listener; None if they need a second listener.

    A second listener is needed if this one uses TLS, because the certificate does not cover a loopback address, or if this
    one is bound to an address of another interface.

    bound_address  address of the listener's socket: IP address, port, and for IPv6 two more values
    """
    host = choose_reachable_host(bound_address[0])
    if tls is not None or not ip_address(host).is_loopback:
        return None
    return make_websocket_url(host, bound_address[1])


def choose_reachable_host(host: str) -> str:
    """Return an address at which this machine reaches a listener on `host`: loopback for all interfaces (`0.0.0.0`)."""
    return {"0.0.0.0": LOOPBACK_ADDRESS, "::": "::1", "": LOOPBACK_ADDRESS}.get(host, host)  # noqa: S104


def describe_listen_error(host: str, port: int, error: OSError) -> str:
    """Return a one-line error for an address that the server cannot listen on, with a remedy if there is one."""
    address = f"{host}:{port}"
    if isinstance(error, socket.gaierror):
        why = "the name of the host is unknown; write an address of this machine, or 0.0.0.0 for all of them"
    else:
        why = REASON_BY_LISTEN_ERRNO.get(error.errno or 0) or error.strerror or str(error)
    return f"cannot listen on {address}: {why}"


def get_peer_ip_address(peer_socket_name: object) -> str:
    """Return the IP address of a socket's peer, or `local` for a Unix socket. An IPv4-mapped address becomes IPv4.

    peer_socket_name  `peername` of the asyncio transport: a tuple of IP address and port, or a text for a Unix socket
    """
    if not (isinstance(peer_socket_name, tuple) and peer_socket_name):
        return "local"
    address = str(peer_socket_name[0]).partition("%")[0]
    return address.removeprefix("::ffff:") if "." in address else address
