"""Breaks RFC 6455: its move's frame has a reserved bit set and an opcode that does not exist."""

from testkit.bare import frame
from testkit.bare_move import answer_with

answer_with(frame(b"move", opcode=5, first=0xC0))
