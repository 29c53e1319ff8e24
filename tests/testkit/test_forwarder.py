"""The bad line between two hosts: what it says of the connections that it carries."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

SECONDS = 30.0


@contextmanager
def line(to: int) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """A line to a port of this machine, and the port at which it listens itself."""
    command = [sys.executable, "-m", "testkit.forwarder", "127.0.0.1", "0", "127.0.0.1", str(to)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield int(said(process.stdout)), process
        finally:
            process.kill()


def said(output: IO[str] | None) -> str:
    """The next line that it has printed."""
    assert output is not None
    return output.readline().strip()


def order(process: subprocess.Popen[str], word: str) -> str:
    """What it answers to an order."""
    assert process.stdin is not None
    process.stdin.write(word + "\n")
    process.stdin.flush()
    return said(process.stdout)


def test_it_tells_over_how_many_connections_the_server_was_not_heard() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, line(server.getsockname()[1]) as (port, process):
        server.settimeout(SECONDS)
        with (
            socket.create_connection(("127.0.0.1", port), SECONDS) as first,
            server.accept()[0] as far,
            socket.create_connection(("127.0.0.1", port), SECONDS) as second,
            server.accept()[0] as other,
        ):
            first.sendall(b"of the client's")
            assert far.recv(100)
            other.sendall(b"before it was noted")
            assert second.recv(100)
            assert order(process, "listen") == "2 connections"
            assert order(process, "silent") == "2 connections"
            far.sendall(b"of the server's")
            assert first.recv(100)
            assert order(process, "silent") == "1 connections"
            assert order(process, "vanish") == "2 connections"
            assert order(process, "silent") == "0 connections", "who is gone is not waited for"
