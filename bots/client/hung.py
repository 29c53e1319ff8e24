"""Looks after bots that think on when their match is over: their owner is told, and they are interrupted."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from collections.abc import Callable

from arena.bots.client.worker import Worker

HUNG_SECONDS = 1.0
"""How long a bot may think on when its match is over, before its owner is told and it is interrupted."""


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
