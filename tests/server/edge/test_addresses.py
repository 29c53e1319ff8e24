"""URLs for bots, and addresses of peers."""

from __future__ import annotations

import errno
import ssl

import pytest

from arena.server.edge.addresses import (
    describe_listen_error,
    get_peer_ip_address,
    make_loopback_url,
    make_websocket_url,
)


@pytest.mark.parametrize(
    ("bound", "found"),
    [
        (("127.0.0.1", 80), "ws://127.0.0.1:80"),
        (("0.0.0.0", 80), "ws://127.0.0.1:80"),
        (("127.8.0.1", 80), "ws://127.8.0.1:80"),
        (("::1", 80, 0, 0), "ws://[::1]:80"),
        (("::", 80, 0, 0), "ws://[::1]:80"),
        (("192.0.2.1", 80), None),
    ],
)
def test_bots_on_this_machine_use_a_loopback_url(bound: tuple[object, ...], found: str | None) -> None:
    assert make_loopback_url(bound, None) == found
    assert make_loopback_url(bound, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)) is None


def test_the_scheme_of_a_url_shows_whether_tls_is_used() -> None:
    assert make_websocket_url("::1", 1) == "ws://[::1]:1"
    assert (
        make_websocket_url("arena.example", 1, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
        == "wss://arena.example:1"
    )


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        (("192.0.2.1", 80), "192.0.2.1"),
        (("::ffff:192.0.2.1", 80, 0, 0), "192.0.2.1"),
        (("2001:db8::1", 80, 0, 0), "2001:db8::1"),
        (("fe80::1%eth0", 80, 0, 2), "fe80::1"),
        ("/run/arena.sock", "local"),
        (None, "local"),
    ],
)
def test_the_address_of_a_peer_is_normalised(peer: object, address: str) -> None:
    assert get_peer_ip_address(peer) == address


def test_a_port_of_the_system_is_refused_with_a_remedy() -> None:
    error = PermissionError(errno.EACCES, "Permission denied")
    why = "cannot listen on 127.0.0.1:80: this user may not use that port; choose one above 1023"
    assert describe_listen_error("127.0.0.1", 80, error) == why
