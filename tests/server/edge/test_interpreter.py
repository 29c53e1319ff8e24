"""The collector of cycles and the turns of threads: set for a block, and as they were after it."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from arena.server.edge.interpreter import tune_interpreter
from arena.server.metrics import Metrics
from tests.server.test_metrics import samples


class Node:
    """Object that the collector tracks."""


@contextmanager
def looks() -> Iterator[list[int]]:
    """Yield the generation of every look for cycles in the block."""
    made: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            made.append(info["generation"])

    gc.callbacks.append(note)
    try:
        yield made
    finally:
        gc.callbacks.remove(note)


def test_all_is_put_back_whatever_happens() -> None:
    gc.unfreeze()  # what the run of the tests has set aside
    usual, frozen, interval = gc.get_threshold(), gc.get_freeze_count(), sys.getswitchinterval()
    with pytest.raises(RuntimeError), tune_interpreter():
        assert sys.getswitchinterval() < interval / 5, "the thread that writes the journal waits for turns"
        raise RuntimeError
    assert gc.get_threshold() == usual
    assert gc.get_freeze_count() == frozen
    assert sys.getswitchinterval() == interval


def test_each_look_is_in_the_metrics() -> None:
    def count() -> float:
        return samples(Metrics().render())["arena_collector_seconds_count", ()]

    before = count()
    with tune_interpreter():
        gc.collect()
    assert count() > before
    after = count()
    gc.collect()
    assert count() == after


def test_objects_that_existed_before_are_not_traversed_again() -> None:
    before = Node()
    with tune_interpreter():
        since = Node()
        seen = gc.get_objects()  # all but what is left out for good
        assert any(each is since for each in seen)
        assert not any(each is before for each in seen)
    assert any(each is before for each in gc.get_objects())


def test_many_new_objects_are_held_with_short_looks_and_none_at_everything() -> None:
    held = []
    with tune_interpreter(), looks() as short:
        held += [Node() for _ in range(10_000)]
    assert 10_000 / 500 < len(short) <= 10_000 / 200
    assert 2 not in short, "no look at everything"
