"""Thread of one bot, which handles the client's requests one after another, outside of the event loop.

The thread is a daemon, so that a bot that never returns cannot keep the program from ending.
"""

from __future__ import annotations

import ctypes
import logging
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from arena.bots.api.bot import Bot, Ending, Match, ProgramCrash, Resign, Thinking, assign_match, request_move
from arena.bots.client.state.actions import ChooseMove
from arena.clock import MONOTONIC_CLOCK, TimeSource

log = logging.getLogger("arena.client")

MAX_THINKING_SECONDS_AFTER_MATCH_END = 1.0
"""Seconds for which a bot may keep thinking after its match. Then its owner is warned, and its thread gets an exception."""

BotFactory = Callable[[], Bot]
"""Function that creates a bot for one match."""


@dataclass(frozen=True)
class BotPrepared:
    """Report that a match's bot is created and prepared."""

    match_id: str


@dataclass(frozen=True)
class MoveChosen:
    """Report that a match's bot has chosen a move at `ply`."""

    match_id: str
    ply: int
    move: Any
    thinking: Thinking | None
    chosen_at: float
    """Time at which the bot returned the move, in seconds of `time.monotonic()`."""


@dataclass(frozen=True)
class BotFailed:
    """Report that a match's bot resigned or raised an exception.

    `reason` is one line. `traceback` is shown to the bot's author; it is empty if the bot resigned, if its
    external program failed (ProgramCrash), or if the traceback contains no line of the bot's code.
    """

    match_id: str
    reason: str
    traceback: str
    has_crashed: bool = True
    """True if the bot raised an exception, False if it resigned."""


@dataclass(frozen=True)
class BotEnded:
    """Report that the thread of a match's bot has ended."""

    match_id: str


WorkerReport = BotPrepared | MoveChosen | BotFailed | BotEnded


class _BotInterrupted(BaseException):
    """Raised in a bot's thread to interrupt a bot that keeps thinking after its match."""


class BotWorker:
    """Thread of one bot, started by the constructor.

    All methods return immediately. The thread passes its reports to the function `report`.
    """

    def __init__(
        self,
        make_bot: BotFactory,
        match: Match,
        report: Callable[[WorkerReport], None],
        clock: TimeSource = MONOTONIC_CLOCK,
    ) -> None:
        self._make_bot = make_bot
        self._match = match
        self._report = report
        self._clock = clock
        self._requests: SimpleQueue[tuple[ChooseMove, threading.Event] | Ending | None] = SimpleQueue()
        self._stop = threading.Event()
        self.current_method = "__init__"
        """Name of the bot's method that is running, or that ran last, for messages to the bot's owner."""
        self._thread = threading.Thread(
            target=self._run_bot_in_thread, name=f"match {match.id:.8}", daemon=True
        )
        self._thread.start()

    def request_move(self, request: ChooseMove) -> None:
        """Queue a request to choose a move. The thread handles requests in order."""
        self._stop = threading.Event()
        self._requests.put((request, self._stop))

    def cancel_move(self) -> None:
        """Set the bot's property `stopped` to True: the move that was last requested is no longer needed."""
        self._stop.set()

    def end_match(self, ending: Ending | None) -> None:
        """Cancel the current move, tell the bot the result of the match, and end the bot's thread.

        ending  result of the match; None to end the thread without telling the bot
        """
        self.cancel_move()
        self._requests.put(ending)

    def interrupt_hung_bot(self) -> None:
        """Raise an exception in the thread of a bot that did not stop thinking after its match.

        The exception takes effect when the thread next runs Python code.
        """
        ident = self._thread.ident
        if ident is not None and self._thread.is_alive():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(ident), ctypes.py_object(_BotInterrupted)
            )

    @property
    def is_alive(self) -> bool:
        """Return True while the bot's thread runs."""
        return self._thread.is_alive()

    def _run_bot_in_thread(self) -> None:
        try:
            bot = self._make_bot()
            try:
                self._play_match(bot)
            finally:
                failed_method, self.current_method = self.current_method, "close"
                bot.close()
                self.current_method = failed_method  # an exception being raised comes from that method
        except _BotInterrupted:
            log.debug("match %s: %s was interrupted", self._match.id, self.current_method)
        except Resign as resignation:
            self._report(
                BotFailed(self._match.id, str(resignation).partition("\n")[0], "", has_crashed=False)
            )
        except ProgramCrash as crash:
            self._report(BotFailed(self._match.id, str(crash).partition("\n")[0], ""))
        except BaseException as error:  # noqa: BLE001 - report everything that a bot raises, even SystemExit
            failure_text = f"{self.current_method} raised {type(error).__name__}: {error}".splitlines()[0]
            self._report(BotFailed(self._match.id, failure_text, _format_bot_traceback(error)))
        self._report(BotEnded(self._match.id))

    def _play_match(self, bot: Bot) -> None:
        assign_match(bot, self._match, self._stop)
        self.current_method = "prepare"
        bot.prepare()
        self._report(BotPrepared(self._match.id))
        while isinstance(request := self._requests.get(), tuple):
            choose, stop = request
            if choose.opponent_move is not None:
                self.current_method = "opponent_moved"
                bot.opponent_moved(choose.opponent_move, choose.position)
            self.current_method = "choose"
            move = request_move(bot, choose.position, choose.clock, stop)
            self._report(MoveChosen(self._match.id, choose.ply, move, bot.thinking, self._clock.now()))
        if request is not None:
            self.current_method = "ended"
            bot.ended(request)


def schedule_hang_check(
    clock: TimeSource, match_id: str, worker: BotWorker, report_problem: Callable[[str], None]
) -> None:
    """Schedule a check that interrupts the bot of a match if its thread still runs. Call this when the match ends.

    The check happens MAX_THINKING_SECONDS_AFTER_MATCH_END seconds later.

    clock           time source that schedules the check
    match_id        id of the match
    worker          thread of the match's bot
    report_problem  function that shows a line to the bot's owner
    """
    clock.call_later(
        MAX_THINKING_SECONDS_AFTER_MATCH_END, _interrupt_hung_bot, clock, match_id, worker, report_problem
    )


def _interrupt_hung_bot(
    clock: TimeSource, match_id: str, worker: BotWorker, report_problem: Callable[[str], None]
) -> None:
    if worker.is_alive:
        report_problem(
            f"match {match_id}: {worker.current_method} has not returned {MAX_THINKING_SECONDS_AFTER_MATCH_END:g} s after the end of the match,"
            " and is interrupted: check self.stopped during long searches"
        )
        worker.interrupt_hung_bot()
        clock.call_later(
            MAX_THINKING_SECONDS_AFTER_MATCH_END, _report_hung_bot, match_id, worker, report_problem
        )


def _report_hung_bot(match_id: str, worker: BotWorker, report_problem: Callable[[str], None]) -> None:
    if worker.is_alive:
        report_problem(
            f"match {match_id}: {worker.current_method} cannot be interrupted, and keeps running: use"
            " --isolate to give each match its own process, which can be killed"
        )


def _format_bot_traceback(error: BaseException) -> str:
    """Return the traceback of `error` without its first lines, which show the client's code and not the bot's.

    Return an empty string if no line of the bot's code is in the traceback, for example because a method of the bot
    lacks a parameter. In this case the error's message is enough.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in (
        __file__,
        request_move.__code__.co_filename,
    ):
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace)) if trace is not None else ""
