"""Websocket client (RFC 6455) on a bare socket, for test programs that violate the protocol."""

from __future__ import annotations

import base64
import os
import socket
import struct
from urllib.parse import urlsplit

import msgpack

TIMEOUT_SECONDS = 20.0
"""Time limit for each operation on a socket, in seconds."""


def open_websocket(
    url: str, subprotocol: str = "arena.v1.msgpack", receive_buffer: int | None = None
) -> socket.socket:
    """Connect to a server, and return the socket after the opening handshake.

    receive_buffer: size of the socket's receive buffer in bytes; None for the system's default

    Raises ConnectionError with the server's response if the server refuses the handshake.
    """
    address = urlsplit(url)
    assert address.hostname is not None
    assert address.port is not None
    plain_socket = socket.socket()
    plain_socket.settimeout(TIMEOUT_SECONDS)
    if receive_buffer is not None:
        plain_socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    plain_socket.connect((address.hostname, address.port))
    plain_socket.sendall(make_handshake_request(address.netloc, subprotocol))
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += receive_exactly(plain_socket, 1)
    if not answer.startswith(b"HTTP/1.1 101 "):
        while more := plain_socket.recv(4096):
            answer += more
        plain_socket.close()
        raise ConnectionError(answer.decode())
    return plain_socket


def make_handshake_request(host: str, subprotocol: str = "arena.v1.msgpack", path: str = "/") -> bytes:
    """Return the HTTP request that begins the opening handshake. `host`: value of its Host header."""
    key = base64.b64encode(os.urandom(16)).decode()
    return (
        f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Protocol: {subprotocol}\r\n\r\n".encode()
    )


def receive_exactly(connection: socket.socket, size: int) -> bytes:
    """Receive exactly `size` bytes. Raises EOFError if the connection ends earlier."""
    data = b""
    while len(data) < size:
        received = connection.recv(size - len(data))
        if not received:
            raise EOFError(f"the connection ended after {len(data)} of {size} bytes")
        data += received
    return data


def make_masked_frame(payload: bytes, opcode: int = 2, first_byte_flags: int = 0x80) -> bytes:
    """Return a masked websocket frame.

    opcode: 2 for a binary message
    first_byte_flags: other bits of the first byte; 0x80 (FIN) marks the last frame of a message
    """
    size = len(payload)
    if size < 126:
        header = struct.pack("!BB", first_byte_flags | opcode, 0x80 | size)
    elif size < 65536:
        header = struct.pack("!BBH", first_byte_flags | opcode, 0x80 | 126, size)
    else:
        header = struct.pack("!BBQ", first_byte_flags | opcode, 0x80 | 127, size)
    return header + bytes(4) + payload  # a mask of zeros leaves the payload as it is


def send_message(connection: socket.socket, **message: object) -> None:
    """Send a message of the arena's protocol in one frame. The keyword arguments are its fields, `type` among them."""
    connection.sendall(make_masked_frame(msgpack.packb(message)))


def receive_frame(connection: socket.socket) -> tuple[int, bytes]:
    """Return the opcode and payload of the next frame, which may be a control frame.

    Raises EOFError if the connection ends, ConnectionError if it is reset, and TimeoutError after TIMEOUT_SECONDS seconds.
    """
    first, size = receive_exactly(connection, 2)
    if size == 126:
        size = struct.unpack("!H", receive_exactly(connection, 2))[0]
    elif size == 127:
        size = struct.unpack("!Q", receive_exactly(connection, 8))[0]
    return first & 0x0F, receive_exactly(connection, size)
