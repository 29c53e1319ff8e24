"""The collector of cycles and the turns of threads: set for a block, and as they were after it."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from arena.server.net.interpreter import settled


class Node:
    """What can be part of a cycle, and be looked for."""

    def __init__(self) -> None:
        self.next: Node | None = None


@contextmanager
def looks() -> Iterator[list[int]]:
    """The generation of every look for cycles in the block."""
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
    with pytest.raises(RuntimeError), settled():
        assert sys.getswitchinterval() < interval / 5, "the thread that writes the journal waits for turns"
        raise RuntimeError
    assert gc.get_threshold() == usual
    assert gc.get_freeze_count() == frozen
    assert sys.getswitchinterval() == interval


def test_what_was_there_before_is_looked_at_no_more() -> None:
    before = Node()
    with settled():
        since = Node()
        seen = gc.get_objects()  # all but what is left out for good
        assert any(each is since for each in seen)
        assert not any(each is before for each in seen)
    assert any(each is before for each in gc.get_objects())


def test_a_few_thousand_objects_are_held_with_hardly_a_look() -> None:
    with looks() as usual:
        held = [Node() for _ in range(10_000)]
    with settled(), looks() as seldom:
        held += [Node() for _ in range(10_000)]
    assert 0 < len(seldom) <= 6
    assert 2 not in seldom, "no look at everything"
    assert len(seldom) < max(len(usual), 7)


def test_what_becomes_a_cycle_meanwhile_is_collected_by_itself() -> None:
    with settled():
        node = Node()
        node.next = node
        gone = weakref.ref(node)
        del node
        held = []
        for _ in range(100_000):
            held.append(Node())
            if gone() is None:
                break
    assert gone() is None
