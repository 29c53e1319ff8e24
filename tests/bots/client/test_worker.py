import contextlib
import threading
from queue import Empty, SimpleQueue
from typing import Any, ClassVar

import pytest

from arena.bots.api.bot import Bot, Clock, Ending, Match, Resign, Thinking
from arena.bots.client.state.actions import ChooseMove
from arena.bots.client.worker import BotEnded, BotFailed, BotPrepared, BotWorker, MoveChosen, WorkerReport
from arena.games.core import Player
from arena.games.tictactoe import TicTacToe

MATCH = Match(TicTacToe(), Player.MAXIE, id="m")
ENDING = Ending(None, None, "over", 0, None)


def order(ply: int = 0) -> ChooseMove:
    position = MATCH.game.start()
    return ChooseMove("m", ply, position, Clock(1.0), None)


class ReportQueue(SimpleQueue[WorkerReport]):
    """Queue of the reports of a worker, in order."""

    def next(self) -> WorkerReport:
        return self.get(timeout=500)


class Threads(Bot):
    """Bot that stores the thread of each of its calls, and waits in `choose` until it is stopped."""

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
    reports = ReportQueue()
    worker = BotWorker(Threads, MATCH, reports.put)
    assert reports.next() == BotPrepared("m")
    for ply in (0, 2):
        worker.request_move(order(ply))
        with pytest.raises(Empty):
            reports.get(timeout=0.02)
        worker.cancel_move()
        chosen = reports.next()
        assert isinstance(chosen, MoveChosen)
        assert (chosen.ply, chosen.move) == (ply, 4)
    worker.end_match(ENDING)
    assert reports.next() == BotEnded("m")
    assert len(Threads.seen) == 1
    assert threading.get_ident() not in Threads.seen


def test_a_stop_that_comes_before_the_bot_begins_is_not_lost() -> None:
    reports = ReportQueue()
    worker = BotWorker(Threads, MATCH, reports.put)
    worker.request_move(order())
    worker.cancel_move()
    assert reports.next() == BotPrepared("m")
    assert isinstance(reports.next(), MoveChosen)
    worker.end_match(None)
    assert reports.next() == BotEnded("m")


def test_the_analysis_of_a_turn_is_not_sent_with_the_next() -> None:
    class Once(Bot):
        def choose(self, position: Any, clock: Clock) -> Any:
            if clock.mine == 1.0:
                self.thinking = thinking
            return 0

    thinking = Thinking(depth=1)
    reports = ReportQueue()
    worker = BotWorker(Once, MATCH, reports.put)
    reports.next()
    worker.request_move(order())
    worker.request_move(ChooseMove("m", 2, MATCH.game.start(), Clock(2.0), None))
    first, second = reports.next(), reports.next()
    assert isinstance(first, MoveChosen)
    assert isinstance(second, MoveChosen)
    assert (first.thinking, second.thinking) == (thinking, None)
    worker.end_match(None)
    reports.next()


def test_a_traceback_without_the_bots_code_is_not_shown() -> None:
    class Broken(Bot):
        def choose(self, position: object) -> int:  # type: ignore[override]
            raise AssertionError

    reports = ReportQueue()
    worker = BotWorker(Broken, MATCH, reports.put)
    assert reports.next() == BotPrepared("m")
    worker.request_move(order())
    broke = reports.next()
    assert isinstance(broke, BotFailed)
    assert "choose raised TypeError" in broke.reason
    assert broke.traceback == ""


def test_a_bot_that_resigns_is_reported_in_a_line_and_closed() -> None:
    closed = []

    class Tired(Bot):
        def choose(self, position: Any, clock: Clock) -> Any:
            raise Resign("enough\nof it")

        def close(self) -> None:
            closed.append(True)

    reports = ReportQueue()
    worker = BotWorker(Tired, MATCH, reports.put)
    reports.next()
    worker.request_move(order())
    assert reports.next() == BotFailed("m", "enough", "", has_crashed=False)
    assert reports.next() == BotEnded("m")
    assert closed == [True]


def test_a_bot_that_prepares_is_stopped_and_closed_without_a_result() -> None:
    closed = []

    class Slow(Bot):
        def prepare(self) -> None:
            while not self.stopped:
                pass

        def choose(self, position: Any, clock: Clock) -> Any:
            raise AssertionError

        def close(self) -> None:
            closed.append(True)

    reports = ReportQueue()
    BotWorker(Slow, MATCH, reports.put).end_match(None)
    assert [reports.next(), reports.next()] == [BotPrepared("m"), BotEnded("m")]
    assert closed == [True]


def test_a_close_that_fails_is_reported_as_such() -> None:
    class Stuck(Bot):
        def choose(self, position: Any, clock: Clock) -> Any:
            raise AssertionError

        def close(self) -> None:
            raise OSError("no")

    reports = ReportQueue()
    worker = BotWorker(Stuck, MATCH, reports.put)
    reports.next()
    worker.end_match(None)
    broke = reports.next()
    assert isinstance(broke, BotFailed)
    assert broke.reason == "close raised OSError: no"


def test_a_bot_that_never_returns_is_interrupted() -> None:
    begun = threading.Event()

    class Stubborn(Bot):
        def choose(self, position: Any, clock: Clock) -> Any:
            begun.set()
            while True:
                with contextlib.suppress(Exception):  # as a bot's author may write it
                    sum(range(100))

    reports = ReportQueue()
    worker = BotWorker(Stubborn, MATCH, reports.put)
    assert reports.next() == BotPrepared("m")
    worker.request_move(order())
    assert begun.wait(150)
    worker.end_match(ENDING)
    assert worker.is_alive
    assert worker.current_method == "choose"
    worker.interrupt_hung_bot()
    assert reports.next() == BotEnded("m")  # and no report of the exception that it raised
