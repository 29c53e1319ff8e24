"""Breaks RFC 6455: its move's frame has a reserved bit set and an opcode that does not exist."""

from testkit.bare import make_masked_frame
from tests.peers.bare_move import send_on_each_turn

send_on_each_turn(make_masked_frame(b"move", opcode=5, first_byte_flags=0xC0))
