import gc
from contextlib import suppress
from threading import Barrier, Thread

from bots.engines.quiet import quiet, tidy


def test_the_collector_rests_until_the_last_thinker_is_done() -> None:
    inside, done = Barrier(2), Barrier(2)

    def think() -> None:
        with quiet():
            inside.wait()
            done.wait()

    with quiet():
        thread = Thread(target=think)
        thread.start()
        inside.wait()
    assert not gc.isenabled()
    done.wait()
    thread.join()
    assert gc.isenabled()


def test_what_thinking_left_is_set_aside_until_it_is_tidied() -> None:
    tidy()
    gc.unfreeze()  # what the run of the tests has set aside
    with quiet():
        kept = [[number] for number in range(1000)]
    assert gc.get_freeze_count() >= len(kept)
    tidy()
    assert gc.get_freeze_count() == 0


def test_where_nothing_was_set_aside_nothing_is_walked() -> None:
    with quiet():
        pass
    tidy()
    gc.freeze()
    tidy()
    assert gc.get_freeze_count() > 0


def test_an_error_inside_wakes_the_collector_too() -> None:
    with suppress(ZeroDivisionError), quiet():
        _ = 1 // 0
    assert gc.isenabled()
