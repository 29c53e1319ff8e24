"""The fuzzer, bounded: the proof is `python -m benchmarks.fuzz`."""

from __future__ import annotations

import random

from arena.protocol.codes import ErrorCode
from testkit.fuzz import generate_frames, run_fuzzer


async def test_random_and_mutated_frames_disturb_nobody() -> None:
    random.seed(3)
    outcome = await run_fuzzer(2000, codec_frames_per_server_frame=20)
    assert not outcome.faults
    assert outcome.honest_end_reason_counts.total() >= 1
    assert outcome.decoded_message_count > 0
    assert set(outcome.rejections_by_code) >= {
        ErrorCode.BAD_MESSAGE,
        ErrorCode.UNKNOWN_TYPE,
        ErrorCode.TOO_LARGE,
    }


def test_the_same_seed_gives_the_same_frames() -> None:
    one, other = generate_frames(7), generate_frames(7)
    assert [next(one) for _ in range(100)] == [next(other) for _ in range(100)]
