from __future__ import annotations

from enum import IntEnum
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.bots.compiled.memory_layout import (
    CACHE_LINE_WORDS,
    CORRECTION_COUNT,
    FIRST_FRAME_OFFSET,
    FRAMES_PER_THREAD,
    SPLITS_PER_THREAD,
    FrameField,
    MemorySizes,
    SearchOption,
    SharedField,
    SplitField,
    SplitMoveField,
    ThreadField,
)


@pytest.mark.parametrize("fields", [ThreadField, FrameField, SearchOption, SplitField, SplitMoveField])
def test_fields_have_different_offsets_below_the_end(fields: type[IntEnum]) -> None:
    # Two names with the same offset would be one member with an alias.
    assert len(fields.__members__) == len(list(fields))
    assert max(fields) == fields["TOTAL_WORDS"]


def test_each_signal_has_its_own_cache_line_and_options_follow() -> None:
    signals = [int(each) for each in SharedField]
    assert all(other - one >= CACHE_LINE_WORDS for one, other in pairwise(signals))
    assert (
        SharedField.NODE_COUNT + CACHE_LINE_WORDS
        <= min(SearchOption)
        < SearchOption.TOTAL_WORDS
        <= SharedField.SPLIT_POINTS_OFFSET
    )


@given(st.integers(1, 40), st.integers(1, 2000), st.integers(1, 64))
def test_the_parts_of_a_memory_do_not_overlap(words: int, moves: int, threads: int) -> None:
    sizes = MemorySizes(words, moves)
    assert FIRST_FRAME_OFFSET >= ThreadField.TOTAL_WORDS
    assert sizes.frame_words >= words + FrameField.TOTAL_WORDS
    parts = [
        (FIRST_FRAME_OFFSET, FRAMES_PER_THREAD * sizes.frame_words),
        (sizes.move_lists_offset, FRAMES_PER_THREAD * moves),
        (sizes.root_order_offset, moves),
        (sizes.histories_offset, 2 * moves),
        (sizes.corrections_offset, CORRECTION_COUNT),
        (sizes.thread_memory_words, 0),
    ]
    assert all(at + size <= following for (at, size), (following, _) in pairwise(parts))
    assert sizes.split_words >= SplitField.TOTAL_WORDS + words + SplitMoveField.TOTAL_WORDS * moves
    assert sizes.split_words % CACHE_LINE_WORDS == sizes.frame_words % CACHE_LINE_WORDS == 0
    assert (
        sizes.count_shared_memory_words(threads)
        == SharedField.SPLIT_POINTS_OFFSET + threads * SPLITS_PER_THREAD * sizes.split_words
    )
