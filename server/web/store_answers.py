"""Answers that need the store: made a few at a time, kept for a second or longer, and given up in bounded time.

Each answer is followed by a rest (server.net.turns), and a question that many ask at once goes to the store once:
matches do not notice who reloads.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from http import HTTPStatus
from time import monotonic
from urllib.parse import unquote

import anyio

from arena.server.net import answers
from arena.server.net.answers import Answer
from arena.server.net.turns import Turns
from arena.server.store import database
from arena.server.web.answer_cache import AnswerCache
from arena.server.web.question import Question

log = logging.getLogger("arena.pages")

KEPT_SECONDS = 1.0
"""For how long an answer from the store is given again, at the least."""
KEPT_TIMES = 200.0
"""For how many times as long as it took it is given again: the ratings of 20 bots are fitted in some milliseconds, those of
140 in a third of a second, and whatever the event loop does meanwhile takes longer."""
KEPT_MOST = 60.0
"""For how many seconds an answer is given again, at the most."""
KEPT = 64
"""How many answers from the store are kept."""
KEPT_BYTES = 2 * 1024 * 1024
"""How many bytes the answers that are kept have together."""
STORE_QUESTIONS = 6
"""How many questions go to the store at the same time."""
GONE = answers.text("nobody waits for this answer", HTTPStatus.REQUEST_TIMEOUT)
"""The answer to a client that has gone before its turn came; it is sent to nobody."""

Make = Callable[[], Awaitable[Answer]]


class StoreAnswers:
    """The answers from the store of one server."""

    def __init__(self, patience: float) -> None:
        """`patience`: seconds from a question to its being given up."""
        self._patience = patience
        self._kept = AnswerCache(entries=KEPT, size_bytes=KEPT_BYTES)
        self._making: dict[tuple[object, ...], anyio.Lock] = {}
        """The questions to which an answer is being made."""
        self._turns = Turns(STORE_QUESTIONS)

    def turn(self, question: Question) -> AbstractAsyncContextManager[None]:
        """Wait for a turn among the questions to the store."""
        return self._turns.turn(question.address, question.cost)

    async def kept(self, question: Question, make: Make) -> Answer:
        """Return the answer of the last second, or make one. Raises BadParameter."""
        key = (unquote(question.path), question.takes_gzip, *sorted(question.given.items()))

        async def answer() -> Answer:
            async with self._alone(key):
                # The same question may have been answered while this one waited.
                made = self._kept.get(key)
                if made is None:
                    began = monotonic()
                    made = await make()
                    took = monotonic() - began
                    self._kept.put(key, made, min(KEPT_MOST, max(KEPT_SECONDS, KEPT_TIMES * took)))
                return made

        return self._kept.get(key) or await self.fresh(question, answer)

    async def fresh(self, question: Question, make: Make) -> Answer:
        """Make an answer; where the store takes too long or fails, the answer says that it is busy or away."""
        try:
            with anyio.fail_after(self._patience):
                async with self.turn(question):
                    return GONE if question.request.abandoned() else await make()
        except TimeoutError:
            return answers.text("the store is busy: try again", HTTPStatus.SERVICE_UNAVAILABLE)
        except Exception as error:
            answer = complaint(question.path, error)
            if answer is None:
                raise
            return answer

    @asynccontextmanager
    async def _alone(self, key: tuple[object, ...]) -> AsyncIterator[None]:
        """Wait until nobody else makes an answer to the same question."""
        lock = self._making.setdefault(key, anyio.Lock())
        try:
            async with lock:
                yield
        finally:
            if not lock.statistics().tasks_waiting:
                self._making.pop(key, None)


def complaint(path: str, error: Exception) -> Answer | None:
    """Return the answer where the store fails, and log why; None for any other error."""
    why = database.complaint(error)
    if why is None:
        return None
    log.error("the store does not answer %s: %s", path, why)
    return answers.text("the store does not answer", HTTPStatus.SERVICE_UNAVAILABLE)
