"""Who plays whom on an open server: a pure choice, and the loop that acts on it."""

from __future__ import annotations

import logging
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import anyio

from games.core import AnyGame
from protocol.codes import FORFEITS
from protocol.record import Record
from protocol.timecontrol import TimeControl
from server.arena_api import MatchSpec
from server.host import Host

log = logging.getLogger("arena.matchmaker")

PAUSE_SECONDS = 1.0
"""How long a pair rests after a match that was forfeited: a broken bot must not keep the server busy."""


@dataclass
class Meetings:
    """How often bots have met, by who sat in Maxie's seat."""

    count: Counter[tuple[str, str]] = field(default_factory=Counter)

    def choose(self, idle: Sequence[str]) -> tuple[str, str] | None:
        """The next match among these: the two who have met least, the seat each has had less.

        Ties go to who has waited longest: earlier in `idle`. None when fewer than two are idle.
        """
        pairs = list(combinations(idle, 2))
        if not pairs:
            return None
        a, b = min(pairs, key=lambda pair: self.count[pair] + self.count[pair[::-1]])
        return (a, b) if self.count[a, b] <= self.count[b, a] else (b, a)

    def note(self, maxie: str, minnie: str) -> None:
        """They play now."""
        self.count[maxie, minnie] += 1


@dataclass(frozen=True)
class Offer:
    """What an open server plays."""

    game: AnyGame
    time_control: TimeControl
    margin_ms: int
    ready_ms: int
    event: str
    threads: int = 1


async def keep_busy(
    host: Host, offer: Offer, tell: Callable[[Record], Awaitable[None]], concurrency: int
) -> None:
    """Pair whoever is idle, for ever, at most `concurrency` matches at once; `tell` hears of each end."""
    meetings = Meetings()
    places = anyio.Semaphore(concurrency)
    taken: Counter[str] = Counter()

    async def play(maxie: str, minnie: str) -> None:
        try:
            record = await host.play(_spec(offer, maxie, minnie))
            await tell(record)
        finally:
            places.release()
        if record.result.reason in FORFEITS:
            await anyio.sleep(PAUSE_SECONDS)
        taken.subtract((maxie, minnie))
        host.lobby.stir()

    def free() -> list[str]:
        return [
            member.name
            for member in host.lobby.players_of(offer.game.name)
            if taken[member.name] < member.capacity
        ]

    async with anyio.create_task_group() as matches:
        while True:
            await places.acquire()
            while (pair := meetings.choose(free())) is None:
                await host.lobby.wait_change()
            meetings.note(*pair)
            taken.update(pair)
            matches.start_soon(play, *pair)


def _spec(offer: Offer, maxie: str, minnie: str) -> MatchSpec:
    return MatchSpec(
        match=uuid.uuid4().hex,
        event=offer.event,
        game=offer.game,
        maxie=maxie,
        minnie=minnie,
        time_control=offer.time_control,
        margin_ms=offer.margin_ms,
        ready_ms=offer.ready_ms,
        threads=offer.threads,
    )
