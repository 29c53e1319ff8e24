"""bots.client.worker: a bot in a thread of its own."""

import contextlib
import threading
from queue import Empty, SimpleQueue
from typing import Any, ClassVar

import pytest

from arena.bots.api.bot import Bot, Clock, Ending, Match, Resign, Thinking
from arena.bots.client.state.actions import Choose
from arena.bots.client.worker import BotEnded, BotFailed, MoveChosen, Prepared, Report, Worker
from arena.games.core import Player
from arena.games.tictactoe import TicTacToe

MATCH = Match(TicTacToe(), Player.MAXIE, id="m")
ENDING = Ending(None, None, "over", 0, None)


def order(ply: int = 0) -> Choose:
    position = MATCH.game.start()
    return Choose("m", ply, position, Clock(1.0), None)


class Told(SimpleQueue[Report]):
    """The reports, in order."""

    def next(self) -> Report:
        return self.get(timeout=150)


class Threads(Bot):
    """Notes the thread of each of its calls, and waits in choose until it is stopped."""

    seen: ClassVar[set[int]] = set()

    def __init__(self) -> None:
        self.seen.add(threading.get_ident())

    def prepare(self) -> None:
        self.seen.add(threading.get_ident())

    def choose(self, position: Any, clock: Clock) -> Any:
        self.seen.add(threading.get_ident())
        while not self.stopped:
            pass
        return 4

    def ended(self, ending: Ending) -> None:
        self.seen.add(threading.get_ident())


def test_all_calls_come_from_one_thread_and_a_stop_reaches_the_bot() -> None:
    Threads.seen.clear()
    told = Told()
    worker = Worker(Threads, MATCH, told.put)
    assert told.next() == Prepared("m")
    for ply in (0, 2):
        worker.choose(order(ply))
        with pytest.raises(Empty):
            told.get(timeout=0.02)
        worker.stop()
        chosen = told.next()
        assert isinstance(chosen, MoveChosen)
        assert (chosen.ply, chosen.move) == (ply, 4)
    worker.finish(ENDING)
    assert told.next() == BotEnded("m")
    assert len(Threads.seen) == 1
    assert threading.get_ident() not in Threads.seen


def test_a_stop_that_comes_before_the_bot_begins_is_not_lost() -> None:
    told = Told()
    worker = Worker(Threads, MATCH, told.put)
    worker.choose(order())
    worker.stop()
    assert told.next() == Prepared("m")
    assert isinstance(told.next(), MoveChosen)
    worker.finish(None)
    assert told.next() == BotEnded("m")


def test_the_thinking_of_one_turn_is_not_that_of_the_next() -> None:
    class Once(Bot):
        def choose(self, position: Any, clock: Clock) -> Any:
            if clock.mine == 1.0:
                self.thinking = thinking
            return 0

    thinking = Thinking(depth=1)
    told = Told()
    worker = Worker(Once, MATCH, told.put)
    told.next()
    worker.choose(order())
    worker.choose(Choose("m", 2, MATCH.game.start(), Clock(2.0), None))
    first, second = told.next(), told.next()
    assert isinstance(first, MoveChosen)
    assert isinstance(second, MoveChosen)
    assert (first.thinking, second.thinking) == (thinking, None)
    worker.finish(None)
    told.next()


def test_no_line_of_ours_is_shown_where_a_bot_has_none() -> None:
    class Broken(Bot):
        def choose(self, position: object) -> int:  # type: ignore[override]
            raise AssertionError

    told = Told()
    worker = Worker(Broken, MATCH, told.put)
    assert told.next() == Prepared("m")
    worker.choose(order())
    broke = told.next()
    assert isinstance(broke, BotFailed)
    assert "choose raised TypeError" in broke.why
    assert broke.trace == ""


def test_a_traceback_begins_in_the_bots_own_code() -> None:
    class Broken(Bot):
        def choose(self, position: Any, clock: Clock) -> Any:
            raise RuntimeError("first line\nsecond line")

    told = Told()
    worker = Worker(Broken, MATCH, told.put)
    told.next()
    worker.choose(order())
    broke = told.next()
    assert isinstance(broke, BotFailed)
    assert broke.why == "choose raised RuntimeError: first line"
    assert broke.trace.count("File ") == 1
    assert "test_worker.py" in broke.trace
    assert told.next() == BotEnded("m")


def test_a_bot_that_exits_does_not_take_the_thread_down_silently() -> None:
    class Quits(Bot):
        def prepare(self) -> None:
            raise SystemExit(3)

        def choose(self, position: Any, clock: Clock) -> Any:
            return 0

    told = Told()
    Worker(Quits, MATCH, told.put)
    broke = told.next()
    assert isinstance(broke, BotFailed)
    assert broke.why == "prepare raised SystemExit: 3"


def test_a_bot_that_resigns_is_told_in_a_line_and_closed() -> None:
    closed = []

    class Tired(Bot):
        def choose(self, position: Any, clock: Clock) -> Any:
            raise Resign("enough\nof it")

        def close(self) -> None:
            closed.append(True)

    told = Told()
    worker = Worker(Tired, MATCH, told.put)
    told.next()
    worker.choose(order())
    assert told.next() == BotFailed("m", "enough", "", crash=False)
    assert told.next() == BotEnded("m")
    assert closed == [True]


def test_a_bot_is_closed_without_an_end_too_and_stopped_while_it_prepares() -> None:
    closed = []

    class Slow(Bot):
        def prepare(self) -> None:
            while not self.stopped:
                pass

        def choose(self, position: Any, clock: Clock) -> Any:
            raise AssertionError

        def close(self) -> None:
            closed.append(True)

    told = Told()
    Worker(Slow, MATCH, told.put).finish(None)
    assert [told.next(), told.next()] == [Prepared("m"), BotEnded("m")]
    assert closed == [True]


def test_a_close_that_fails_is_told_as_such() -> None:
    class Stuck(Bot):
        def choose(self, position: Any, clock: Clock) -> Any:
            raise AssertionError

        def close(self) -> None:
            raise OSError("no")

    told = Told()
    worker = Worker(Stuck, MATCH, told.put)
    told.next()
    worker.finish(None)
    broke = told.next()
    assert isinstance(broke, BotFailed)
    assert broke.why == "close raised OSError: no"


def test_a_bot_that_never_returns_is_interrupted() -> None:
    class Stubborn(Bot):
        def choose(self, position: Any, clock: Clock) -> Any:
            while True:
                with contextlib.suppress(Exception):  # as an author may write it
                    sum(range(100))

    told = Told()
    worker = Worker(Stubborn, MATCH, told.put)
    assert told.next() == Prepared("m")
    worker.choose(order())
    with pytest.raises(Empty):
        told.get(timeout=0.05)
    worker.finish(ENDING)
    assert worker.alive
    assert worker.current_method == "choose"
    worker.interrupt()
    assert told.next() == BotEnded("m")  # and no word of what it raised
