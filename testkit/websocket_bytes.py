"""Bytes that a websocket client sends (RFC 6455): handshakes and frames, for test clients that violate the protocol."""

from __future__ import annotations

import base64
import os
import struct


def make_handshake_request(host: str, subprotocol: str = "arena.v1.msgpack", path: str = "/") -> bytes:
    """Return the HTTP request that begins the opening handshake. `host`: value of the request's Host header."""
    key = base64.b64encode(os.urandom(16)).decode()
    return (
        f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Protocol: {subprotocol}\r\n\r\n".encode()
    )


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
