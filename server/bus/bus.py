"""The bus: messages by subject, to whoever has subscribed. Every form of it behaves the same.

A message is delivered at most once, and those of one sender on one subject in the order in which they were published.
Nothing waits for whoever reads slowly: what has no room is dropped, and counted. Whoever publishes gets its own
messages too, if it has subscribed to them.

A subject is made of tokens with dots between, as in `arena.room.17`. A subscription may have `*` for any one token,
and `>` at its end for any one or more.
"""

from __future__ import annotations

import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

log = logging.getLogger("arena.bus")

MAX_PAYLOAD = 1 << 20
"""Bytes of one message, at most: what NATS lets through by its own default."""
WAITING_BYTES = 16 << 20
"""Bytes of payload that may wait on their way out, and as many for each subscription on their way in."""
WAITING_MESSAGES = 65_536
"""The same, as a number of messages."""

_TOKEN = r"[A-Za-z0-9_-]+"  # noqa: S105  a part of a subject, no secret
_SUBJECT = re.compile(rf"{_TOKEN}(\.{_TOKEN})*")
_PATTERN = re.compile(rf"(({_TOKEN}|\*)(\.({_TOKEN}|\*))*(\.>)?|>)")
_MAX_SUBJECT = 255


class BusError(Exception):
    """The bus cannot be used: one line that says why."""


class RequestFailed(Exception):
    """A request got no answer.

    RequestFailed
    ├── NobodyListens
    ├── NoAnswer
    └── BusAway
    """


class NobodyListens(RequestFailed):
    """Nobody has subscribed to the subject of a request."""


class NoAnswer(RequestFailed):
    """Nobody answered a request in time."""


class BusAway(RequestFailed):
    """There is no connection over which a request could leave, or it had no room."""


class Message(NamedTuple):
    """What a subscription is given."""

    subject: str
    payload: bytes
    reply: str
    """The subject on which an answer is waited for; empty where none is."""


Handler = Callable[[Message], None]
"""Is called in the event loop with one message after the other. Its messages wait while it works, so it must be quick."""


class Subscription(ABC):
    """One subscription of a bus."""

    @abstractmethod
    async def end(self) -> None:
        """Hand over nothing more from now on. Does nothing where it has ended."""


class Bus(ABC):
    """One server's connection to the bus."""

    def __init__(self) -> None:
        """A bus that has dropped nothing yet."""
        self.dropped = 0
        """How many messages were not handed on, for want of a connection or of room."""

    @property
    @abstractmethod
    def connected(self) -> bool:
        """Whether messages leave and arrive at the moment, as far as is known."""

    def publish(self, subject: str, payload: bytes, reply: str = "") -> bool:
        """Send a message, without waiting: False where it was dropped at once. True is no promise that it arrives.

        reply: the subject on which whoever gets it may answer. Raises ValueError for what may not be sent at all.
        """
        check_message(subject, payload)
        if reply:
            check_message(reply, b"")
        taken = self._publish(subject, payload, reply)
        if not taken:
            self.drop()
        return taken

    def drop(self, count: int = 1) -> None:
        """Take note that messages were not handed on."""
        self.dropped += count

    @abstractmethod
    async def subscribe(self, pattern: str, handler: Handler) -> Subscription:
        """Have the messages on these subjects handed over, from when this returns if there is a connection.

        A subscription outlives the connection. Raises ValueError for what is no pattern.
        """

    @abstractmethod
    async def request(self, subject: str, payload: bytes, seconds: float) -> bytes:
        """Send a message and wait for the first answer, `seconds` at the most. Raises RequestFailed."""

    @abstractmethod
    async def close(self) -> None:
        """Send what waits, as far as that is soon done, and end the connection and all subscriptions."""

    @abstractmethod
    def _publish(self, subject: str, payload: bytes, reply: str) -> bool:
        """Do what `publish` says with what may be sent."""


def check_message(subject: str, payload: bytes) -> None:
    """See that a message may be sent. Raises ValueError."""
    if len(subject) > _MAX_SUBJECT or not _SUBJECT.fullmatch(subject):
        raise ValueError(f"{subject!r} is no subject")
    if len(payload) > MAX_PAYLOAD:
        raise ValueError(f"a message of {len(payload)} bytes on {subject}; {MAX_PAYLOAD} may be sent")


def check_pattern(pattern: str) -> None:
    """See that something may be subscribed to. Raises ValueError."""
    if len(pattern) > _MAX_SUBJECT or not _PATTERN.fullmatch(pattern):
        raise ValueError(f"{pattern!r} is nothing that one can subscribe to")


def matches(pattern: tuple[str, ...], subject: tuple[str, ...]) -> bool:
    """Whether a subscription is to this subject, both as their tokens."""
    if pattern[-1] == ">":
        fixed = pattern[:-1]
        if len(subject) <= len(fixed):
            return False
        subject = subject[: len(fixed)]
    else:
        fixed = pattern
        if len(subject) != len(fixed):
            return False
    return all(want in ("*", have) for want, have in zip(fixed, subject, strict=True))


def hand_over(handler: Handler, message: Message) -> None:
    """Give a handler its message; what it fails of is told in the log, and the next one comes all the same."""
    try:
        handler(message)
    except Exception:
        log.exception("a message on %s was not handled", message.subject)
