"""Announces a frame of 100 MB as its move, and sends more of it than the kernel keeps between the two: 8 MB."""

from testkit.bare import make_masked_frame
from tests.peers.bare_move import send_on_each_turn

send_on_each_turn(make_masked_frame(bytes(100_000_000))[:8_000_000])
