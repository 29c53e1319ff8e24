"""Bytes on the line: what a client of `websockets` reads is what was meant."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from protocol.codes import Code
from protocol.messages import Error, ServerMessage
from server.net.wire import to_wire
from tests.server.frames import from_wire


@given(st.lists(st.builds(lambda size: Error(Code.TOO_SLOW, "x" * size), st.integers(0, 70_000)), max_size=4))
def test_joined_frames_are_read_one_by_one(messages: list[ServerMessage]) -> None:
    """Of every length that a frame's header writes in its own way: below 126, below 65,536, above."""
    assert from_wire(b"".join(to_wire(each) for each in messages)) == messages
