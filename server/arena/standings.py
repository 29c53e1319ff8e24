"""Answers to bots that say how many more matches they take: each comes after the start of every match given before.

A bot that takes no more leaves when it has that answer and plays nothing. So the matchmaker, which may be another server,
is asked first what it has given the bot by then, and whatever that is begins before the bot is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any

import anyio

from arena.server.rooms.member import BotConnection, Member

AGAIN_SECONDS = 1.0
"""From one question to the matchmaker to the next: it may have ended, or a match that it gave may not be begun after all."""
LOOK_SECONDS = 0.05
"""From one look whether all has begun to the next."""

StartSoon = Callable[[Callable[[], Coroutine[Any, Any, None]]], object]
"""Runs a task until the server ends."""
Ask = Callable[[Member, int], Collection[str] | None]
"""Asks the matchmaker, by a number, what it has given a bot: the matches where this server is that, else None."""


@dataclass(eq=False)
class _Waiting:
    """A bot that is to be answered."""

    member: Member
    connection: BotConnection | None
    owed: int = 0
    """How often it has asked."""
    number: int = 0
    """Of the question to the matchmaker: an answer to an earlier one tells nothing of what was asked since."""
    given: Collection[str] | None = None
    """The matches that it was given; None until the matchmaker has said so."""
    asked: float = 0.0
    """When the matchmaker was asked last, in monotonic seconds."""


class Standings:
    """The bots of one server that wait for such an answer."""

    def __init__(
        self,
        start_soon: StartSoon,
        ask: Ask,
        tell: Callable[[Member], None],
        *,
        again: float = AGAIN_SECONDS,
    ) -> None:
        """Answer the bots of a server.

        start_soon  runs a task until the server ends
        ask         asks the matchmaker what it has given a bot
        tell        tells a bot how it stands
        again       seconds from one question to the matchmaker to the next
        """
        self._start_soon = start_soon
        self._ask = ask
        self._tell = tell
        self._again = again
        self._waiting: dict[str, _Waiting] = {}

    def answer(self, member: Member) -> None:
        """Tell a bot of here how it stands, as soon as all that it was given has begun."""
        waiting = self._waiting.get(member.name)
        known = waiting is not None and waiting.connection is member.connection
        if waiting is None or not known:
            waiting = self._waiting[member.name] = _Waiting(member, member.connection)
        waiting.owed += 1
        self._question(waiting)
        if not self._tell_if_begun(waiting) and not known:
            self._start_soon(partial(self._wait, waiting))

    def given(self, name: str, entry: int, number: int, matches: Collection[str]) -> None:
        """The matchmaker says which matches it has given a bot of here."""
        waiting = self._waiting.get(name)
        if waiting is not None and (waiting.member.entry, waiting.number) == (entry, number):
            waiting.given = matches

    def _question(self, waiting: _Waiting) -> None:
        waiting.number += 1
        waiting.asked = monotonic()
        waiting.given = self._ask(waiting.member, waiting.number)

    async def _wait(self, waiting: _Waiting) -> None:
        while not self._tell_if_begun(waiting):
            if monotonic() - waiting.asked >= self._again:
                self._question(waiting)
            await anyio.sleep(LOOK_SECONDS)

    def _tell_if_begun(self, waiting: _Waiting) -> bool:
        """Whether nothing is to be waited for any more; the bot is answered then, where it is still here."""
        member = waiting.member
        here = member.connection is waiting.connection
        if here and not _begun(member, waiting.given):
            return False
        if self._waiting.get(member.name) is waiting:
            del self._waiting[member.name]
        for _ in range(waiting.owed if here else 0):
            self._tell(member)
        waiting.owed = 0
        return True


def _begun(member: Member, given: Collection[str] | None) -> bool:
    """Whether a bot has been told the start of each match that it was given, as far as that is not over."""
    if given is None or not all(room.introduced(player) for room, player in member.matches.values()):
        return False
    # What it is not in and never was here has not been heard of yet.
    return all(match in member.matches or match in member.played for match in given)
