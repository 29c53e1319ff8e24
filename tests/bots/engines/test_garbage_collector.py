import gc
import subprocess
import sys
from contextlib import suppress
from threading import Barrier, Thread

from arena.bots.engines.garbage_collector import COLLECTION_INTERVAL_SECONDS, PausableGarbageCollector


class ManualClock:
    """Clock whose time the test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_collection_is_disabled_until_the_last_bot_has_moved() -> None:
    collector = PausableGarbageCollector()
    inside, done = Barrier(2), Barrier(2)

    def think() -> None:
        with collector.pause():
            inside.wait()
            done.wait()

    with collector.pause():
        thread = Thread(target=think)
        thread.start()
        inside.wait()
    assert not gc.isenabled()
    done.wait()
    thread.join()
    assert gc.isenabled()


def test_collections_in_a_separate_process() -> None:
    """In a process of its own, because a collection of all objects of the test run would take a third of a second."""
    both = (frozen_objects_stay_frozen_until_the_next_collection, quick_matches_share_one_collection)
    code = f"import {__name__} as here; " + "; ".join(f"here.{each.__name__}()" for each in both)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=500)


def frozen_objects_stay_frozen_until_the_next_collection() -> None:
    collector = PausableGarbageCollector()
    with collector.pause():
        objects = [[number] for number in range(1000)]
    assert gc.get_freeze_count() >= len(objects)
    collector.collect_if_due()
    assert gc.get_freeze_count() == 0


def test_without_frozen_objects_there_is_no_collection() -> None:
    gc.freeze()
    PausableGarbageCollector().collect_if_due()
    assert gc.get_freeze_count() > 0


def quick_matches_share_one_collection() -> None:
    clock = ManualClock()
    collector = PausableGarbageCollector(clock)

    def collects() -> bool:
        with collector.pause():
            pass
        collector.collect_if_due()
        return gc.get_freeze_count() == 0

    assert collects()
    clock.now = COLLECTION_INTERVAL_SECONDS - 1
    assert not collects()
    clock.now = COLLECTION_INTERVAL_SECONDS
    assert collects()


def test_there_is_no_collection_while_a_bot_thinks() -> None:
    collector = PausableGarbageCollector()
    with collector.pause():
        pass
    with collector.pause():
        collector.collect_if_due()
        assert gc.get_freeze_count() > 0


def test_collection_is_enabled_again_after_an_error() -> None:
    with suppress(ZeroDivisionError), PausableGarbageCollector().pause():
        _ = 1 // 0
    assert gc.isenabled()
