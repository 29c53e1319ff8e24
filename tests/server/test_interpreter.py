"""Garbage collection and thread switching: tuned during a block, and restored after it."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from arena.server.interpreter import tuned_interpreter
from arena.server.metrics import Metrics
from tests.server.test_metrics import samples


class Node:
    """Object that the garbage collector tracks."""


@contextmanager
def record_collections() -> Iterator[list[int]]:
    """Yield a list to which the generation of each garbage collection during the block is appended."""
    made: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            made.append(info["generation"])

    gc.callbacks.append(note)
    try:
        yield made
    finally:
        gc.callbacks.remove(note)


def test_the_settings_are_restored_after_an_exception() -> None:
    gc.unfreeze()  # objects that the test run has frozen
    usual, frozen, interval = gc.get_threshold(), gc.get_freeze_count(), sys.getswitchinterval()
    with pytest.raises(RuntimeError), tuned_interpreter():
        assert sys.getswitchinterval() < interval / 5, (
            "the event loop yields sooner to the thread that writes the journal"
        )
        raise RuntimeError
    assert gc.get_threshold() == usual
    assert gc.get_freeze_count() == frozen
    assert sys.getswitchinterval() == interval


def test_the_metrics_count_each_collection() -> None:
    def count() -> float:
        return samples(Metrics().render_prometheus_text())["arena_collector_seconds_count", ()]

    before = count()
    with tuned_interpreter():
        gc.collect()
    assert count() > before
    after = count()
    gc.collect()
    assert count() == after


def test_collections_skip_objects_that_existed_before() -> None:
    before = Node()
    with tuned_interpreter():
        since = Node()
        seen = gc.get_objects()  # all objects that are not frozen
        assert any(each is since for each in seen)
        assert not any(each is before for each in seen)
    assert any(each is before for each in gc.get_objects())


def test_many_new_objects_cause_only_short_collections() -> None:
    held = []
    with tuned_interpreter(), record_collections() as generations:
        held += [Node() for _ in range(10_000)]
    assert 10_000 / 500 < len(generations) <= 10_000 / 200
    assert 2 not in generations, "there must be no full collection"
