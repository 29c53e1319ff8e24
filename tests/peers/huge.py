"""Announces a frame of 100 MB as its move, and sends more of it than the kernel keeps between the two: 8 MB."""

from testkit.bare import frame
from testkit.bare_move import answer_with

answer_with(frame(bytes(100_000_000))[:8_000_000])
