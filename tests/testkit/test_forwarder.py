"""The forwarder of a faulty network: data sent during a cut is held back."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from testkit.forwarder import ForwarderProcess

SECONDS = 30.0


def test_a_cut_holds_everything_back_until_it_is_mended() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        closing(ForwarderProcess(server.getsockname()[1])) as forwarder,
    ):
        server.settimeout(SECONDS)
        with (
            socket.create_connection(("127.0.0.1", forwarder.port), SECONDS) as client,
            server.accept()[0] as far,
        ):
            client.sendall(b"1")
            assert far.recv(10) == b"1"
            assert forwarder.send_command("cut") == 1
            client.sendall(b"2")
            far.settimeout(0.05)
            with pytest.raises(TimeoutError):
                far.recv(10)
            with (
                socket.create_connection(("127.0.0.1", forwarder.port), SECONDS) as late,
                server.accept()[0] as other,
            ):
                late.sendall(b"3")
                other.settimeout(0.05)
                with pytest.raises(TimeoutError):
                    other.recv(10)
                assert forwarder.send_command("mend") == 2
                for end, expected in ((far, b"2"), (other, b"3")):
                    end.settimeout(SECONDS)
                    assert end.recv(10) == expected
