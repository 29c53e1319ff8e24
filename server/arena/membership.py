"""A server's place among those of its arena, by the store: that it lives, who else does, and whose matches it takes over.

Of what others are to believe nothing is decided here: a lease that has run out is taken by whoever is first, and the
store lets no two be. A server that does not hear the others, or does not reach the store, while others do, is cut off:
it ends, and its matches go on where they are heard. One that is cut off from both ends as well, so that its bots look elsewhere.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from functools import partial
from time import monotonic

import anyio

from arena.server.arena.arena import Arena
from arena.server.arena.links import BEAT_SECONDS
from arena.server.store import arena as store
from arena.server.store.arena import OFFICE_SECONDS, Look
from arena.server.store.database import Engine, StoreError, why_not
from arena.server.store.journal.journal import Journal
from arena.server.store.lease import ARENA_SECONDS, LeaseLost

log = logging.getLogger("arena.membership")

LOOK_SECONDS = 0.4
"""From one look at the arena to the next."""
CUT_OFF_SECONDS = 1.5
"""A server that others do without for so long ends, so that others have its matches."""


class CutOff(StoreError):
    """This server is cut off from what the others of its arena have: one line that says from what."""


class Membership:
    """One server among those of its arena, as long as `run` is under way."""

    def __init__(
        self,
        engine: Engine,
        journal: Journal,
        arena: Arena,
        *,
        adopt: Callable[[list[str]], Awaitable[None]],
        takes: Callable[[], bool],
        taken_over: Callable[[], None],
    ) -> None:
        """Be one of an arena.

        adopt       goes on with matches in progress that are this server's from now on
        takes       says whether this server takes matches
        taken_over  told that the matches of a server were taken over
        """
        self._engine = engine
        self._journal = journal
        self._arena = arena
        self._adopt = adopt
        self._takes = takes
        self._taken_over = taken_over
        self._seen: Look | None = None
        self._reached = monotonic()
        """When the store answered last, in monotonic seconds."""
        self._heard = monotonic()
        """When the bus brought something last."""
        self._orphans: list[str] = []
        """Matches that were taken over and are not gone on with yet."""

    @property
    def reaches_store(self) -> bool:
        """Whether the store answers."""
        return monotonic() - self._reached < ARENA_SECONDS

    def trouble(self) -> str:
        """Why the arena is not whole, in one line; empty where all is well."""
        if self._seen is None:
            return "the other servers of the arena are not known yet"
        if not self._arena.links.hears:
            return "the bus is away: matches between servers stand still"
        deaf = [link.name for link in self._arena.links.all if not link.up]
        return f"{deaf[0]} is not heard: matches with its bots stand still" if deaf else ""

    async def join(self) -> None:
        """Look at the arena once, before anybody comes in. Raises LeaseLost and what the database raises."""
        await self._look()

    async def step_down(self) -> None:
        """Give up the office, where this server has it, and let what is on its way to here come in."""
        try:
            await self._look_unless_away("the office is not given up, and runs out")
        except LeaseLost:
            return
        await anyio.sleep(BEAT_SECONDS)

    async def run(self) -> None:
        """Look at the arena again and again, until cancelled. Raises LeaseLost."""
        while True:
            began = monotonic()
            await self._look_unless_away("the arena cannot be looked at")
            await anyio.sleep(max(0.05, LOOK_SECONDS - (monotonic() - began)))

    async def watch(self) -> None:
        """Look whether this server is cut off, until it is. Raises CutOff."""
        while True:
            await anyio.sleep(LOOK_SECONDS / 2)
            now = monotonic()
            if self._arena.links.hears:
                self._heard = now
            if now - self._heard > CUT_OFF_SECONDS and self._others_hear():
                raise CutOff("this server does not hear the bus, and others do: its matches go on there")
            if now - self._reached > ARENA_SECONDS + 1.0 and self._others_reach_the_store():
                self._journal.give_up()
                raise CutOff("this server does not reach the store, and others do: its matches go on there")
            if min(now - self._reached, now - self._heard) > ARENA_SECONDS + 1.0:
                # Whether others have both cannot be known from here. If they do they play its matches, and need its bots.
                self._journal.give_up()
                raise CutOff(
                    "this server reaches neither the store nor the bus: its bots are to look elsewhere"
                )

    def _others_hear(self) -> bool:
        if self._seen is None or not self.reaches_store:
            return False
        mine = self._journal.lease.name
        return any(each.lives and each.hears and each.name != mine for each in self._seen.neighbours)

    def _others_reach_the_store(self) -> bool:
        return any(link.up and link.beat is not None and link.beat.store for link in self._arena.links.all)

    async def _look_unless_away(self, otherwise: str) -> None:
        """Look at the arena; where the store does not answer, say in the log what that leads to. Raises LeaseLost."""
        try:
            await self._look()
        except LeaseLost:
            raise
        except Exception as error:
            why = why_not(error)
            if why is None and not isinstance(error, TimeoutError):
                raise
            log.warning("%s: %s", otherwise, why or "the store takes too long")

    async def _look(self) -> None:
        asked = monotonic()
        lease = self._journal.lease
        hears = self._arena.links.hears
        look = partial(
            store.look, lease=lease, runs=self._takes() and (hears or self._seen is None), hears=hears
        )
        seen = await self._journal.write(look, urgent=True)
        self._reached = monotonic()
        self._seen = seen
        self._arena.follow(seen, asked + OFFICE_SECONDS)
        for each in seen.neighbours:
            if not each.lives and each.name != lease.name and (hears or not self._others_hear()):
                await self._take_over(each.name, each.number)
        if self._orphans:
            orphans = self._orphans
            await self._adopt(orphans)
            self._orphans = []
        if homeless := self._arena.elsewhere.homeless:
            found = await store.whereabouts(self._engine, homeless)
            self._arena.elsewhere.resolve(homeless, found)

    async def _take_over(self, name: str, number: int) -> None:
        taken = await self._journal.write(
            partial(store.take_over, lease=self._journal.lease, dead=name, number=number), urgent=True
        )
        if taken is None:
            return
        log.warning("%s has ended, and %d matches of it go on here", name, len(taken))
        self._orphans += taken
        self._arena.forget(name)
        self._taken_over()
