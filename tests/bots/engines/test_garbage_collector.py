import gc
import subprocess
import sys
from contextlib import suppress
from threading import Barrier, Thread

from arena.bots.engines.garbage_collector import COLLECT_INTERVAL_SECONDS, GarbageCollector


class Time:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_collector_rests_until_the_last_thinker_is_done() -> None:
    collector = GarbageCollector()
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


def test_in_a_process_of_its_own() -> None:
    """A look at everything that the run of the tests has made would take a third of a second."""
    both = (what_thinking_left_is_set_aside_until_it_is_tidied, quick_matches_share_one_look_at_everything)
    code = f"import {__name__} as here; " + "; ".join(f"here.{each.__name__}()" for each in both)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=500)


def what_thinking_left_is_set_aside_until_it_is_tidied() -> None:
    collector = GarbageCollector()
    with collector.pause():
        objects = [[number] for number in range(1000)]
    assert gc.get_freeze_count() >= len(objects)
    collector.collect()
    assert gc.get_freeze_count() == 0


def test_without_frozen_objects_nothing_is_traversed() -> None:
    gc.freeze()
    GarbageCollector().collect()
    assert gc.get_freeze_count() > 0


def quick_matches_share_one_look_at_everything() -> None:
    clock = Time()
    collector = GarbageCollector(clock)

    def looked() -> bool:
        with collector.pause():
            pass
        collector.collect()
        return gc.get_freeze_count() == 0

    assert looked()
    clock.now = COLLECT_INTERVAL_SECONDS - 1
    assert not looked()
    clock.now = COLLECT_INTERVAL_SECONDS
    assert looked()


def test_nothing_is_walked_while_somebody_thinks() -> None:
    collector = GarbageCollector()
    with collector.pause():
        pass
    with collector.pause():
        collector.collect()
        assert gc.get_freeze_count() > 0


def test_an_error_inside_wakes_the_collector_too() -> None:
    with suppress(ZeroDivisionError), GarbageCollector().pause():
        _ = 1 // 0
    assert gc.isenabled()
