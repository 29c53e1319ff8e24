"""One bot in one thread: everything it is asked, one after another, away from the event loop.

The thread is a daemon: a bot that never returns must not keep a program from ending.
"""

from __future__ import annotations

import ctypes
import logging
import threading
import time
import traceback
from asyncio import AbstractEventLoop
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from arena.bots.api.bot import Bot, Crash, Resign, ask, begin
from arena.bots.api.match import Ending, Match
from arena.bots.api.thinking import Thinking
from arena.bots.client.state.actions import Choose

log = logging.getLogger("arena.client")

HUNG_SECONDS = 1.0
"""How long a bot may think on when its match is over, before its owner is told and it is interrupted."""

BotFactory = Callable[[], Bot]
"""Makes a bot for one match."""


@dataclass(frozen=True)
class Prepared:
    """The bot is made and prepared."""

    match: str


@dataclass(frozen=True)
class Chosen:
    """The bot has chosen."""

    match: str
    ply: int
    move: Any
    thinking: Thinking | None
    at: float
    """When the bot had chosen, as `time.monotonic()` tells it."""


@dataclass(frozen=True)
class Broke:
    """The bot raised: `why` is one line, `trace` what its author reads; empty where it
    chose to resign, and where none of the lines is its own."""

    match: str
    why: str
    trace: str
    crash: bool = True
    """False where it chose to resign."""


@dataclass(frozen=True)
class Ended:
    """The bot was told of the end, and its thread is over."""

    match: str


Report = Prepared | Chosen | Broke | Ended


class _Interrupted(BaseException):
    """The match is over, and the bot thought on."""


class Worker:
    """Runs a bot. The methods return at once; `report` is called in the bot's thread."""

    def __init__(self, make: BotFactory, match: Match, report: Callable[[Report], None]) -> None:
        self._make = make
        self._match = match
        self._report = report
        self._orders: SimpleQueue[tuple[Choose, threading.Event] | Ending | None] = SimpleQueue()
        self._stop = threading.Event()
        self._doing = "__init__"
        self._thread = threading.Thread(target=self._run, name=f"match {match.id:.8}", daemon=True)
        self._thread.start()

    def choose(self, order: Choose) -> None:
        """Have the bot choose once it is done with what it was asked before."""
        self._stop = threading.Event()
        self._orders.put((order, self._stop))

    def stop(self) -> None:
        """Nobody waits for the last choice any more."""
        self._stop.set()

    def finish(self, ending: Ending | None) -> None:
        """Tell the bot of the end (None: without a word), and end its thread."""
        self.stop()
        self._orders.put(ending)

    def interrupt(self) -> None:
        """End a thread that does not listen, where it runs Python: it raises at its next step there."""
        ident = self._thread.ident
        if ident is not None and self._thread.is_alive():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(_Interrupted))

    @property
    def doing(self) -> str:
        """The method of the bot that it is in, or was in last."""
        return self._doing

    @property
    def alive(self) -> bool:
        """Whether the thread still runs."""
        return self._thread.is_alive()

    def _run(self) -> None:
        try:
            bot = self._make()
            try:
                self._play(bot)
            finally:
                doing, self._doing = self._doing, "close"
                bot.close()
                self._doing = doing  # an exception that is on its way comes from there
        except _Interrupted:
            log.debug("match %s: %s was interrupted", self._match.id, self._doing)
        except Resign as why:
            self._report(Broke(self._match.id, str(why).partition("\n")[0], "", crash=False))
        except Crash as why:
            self._report(Broke(self._match.id, str(why).partition("\n")[0], ""))
        except BaseException as error:  # noqa: BLE001 - whatever an author's code raises, sys.exit too, is told
            told = f"{self._doing} raised {type(error).__name__}: {error}".splitlines()[0]
            self._report(Broke(self._match.id, told, _own_part(error)))
        self._report(Ended(self._match.id))

    def _play(self, bot: Bot) -> None:
        begin(bot, self._match, self._stop)
        self._doing = "prepare"
        bot.prepare()
        self._report(Prepared(self._match.id))
        while isinstance(order := self._orders.get(), tuple):
            choose, stop = order
            if choose.reply_to is not None:
                self._doing = "opponent_moved"
                bot.opponent_moved(choose.reply_to, choose.position)
            self._doing = "choose"
            move = ask(bot, choose.position, choose.clock, stop)
            self._report(Chosen(self._match.id, choose.ply, move, bot.thinking, time.monotonic()))
        if order is not None:
            self._doing = "ended"
            bot.ended(order)


def look_after(loop: AbstractEventLoop, match: str, worker: Worker, complain: Callable[[str], None]) -> None:
    """Look in a while whether a bot whose match is over has come to its end, and end it if not."""
    loop.call_later(HUNG_SECONDS, _interrupt, loop, match, worker, complain)


def _interrupt(loop: AbstractEventLoop, match: str, worker: Worker, complain: Callable[[str], None]) -> None:
    if worker.alive:
        complain(
            f"match {match}: {worker.doing} has not returned {HUNG_SECONDS:g} s after the end of the match,"
            " and is interrupted; a long search looks at self.stopped"
        )
        worker.interrupt()
        loop.call_later(HUNG_SECONDS, _give_up, match, worker, complain)


def _give_up(match: str, worker: Worker, complain: Callable[[str], None]) -> None:
    if worker.alive:
        complain(
            f"match {match}: {worker.doing} runs on beside the next matches, as it cannot be interrupted: with"
            " --isolate each match has a process of its own, which can"
        )


def _own_part(error: BaseException) -> str:
    """The traceback from the bot's own code on: what called it is of no use to its author.

    Where none of it is the bot's, nothing: then it was called wrongly, which `why` tells.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in (__file__, ask.__code__.co_filename):
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace)) if trace is not None else ""
