"""Answers `GET /api/event?name=NAME`: how an event goes, whether this server plays it, another one does, or it is over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, structs

from arena.protocol.messages import LiveMatch
from arena.server.store.ladders import LadderPlanned
from arena.server.store.queries import Queries
from arena.server.web.progress import EventProgress, Progress

MOST_BOTS = 200
"""Bots of an event that are told with what they play."""


class EventTold(Struct, frozen=True):
    """An event."""

    event: str
    plan: EventProgress | None
    """None for an event that has no plan, as that of a server where anybody plays."""
    counted: int
    """Its finished matches, as far as the tables have counted them."""
    playing: int
    """Its matches in progress on this server."""
    finished: bool


class Events:
    """What one server knows of events."""

    def __init__(self, queries: Queries, progress: Progress, live: Callable[[], list[LiveMatch]]) -> None:
        """`progress` tells of the event that this server plays itself, `live` lists its matches in progress."""
        self._queries = queries
        self._progress = progress
        self._live = live

    def bots_of(self, event: str) -> list[str] | None:
        """The bots of an event that this server plays itself; None for any other."""
        progress = self._progress(event)
        return None if progress is None else list(progress.bots)

    async def told(self, event: str) -> EventTold | None:
        """What is known of an event; None where nothing is."""
        counted = await self._queries.counted(event)
        playing = sum(each.event == event for each in self._live())
        progress = self._progress(event)
        planned = await self._queries.planned(event)
        if counted is None and planned is None and progress is None and not playing:
            return None
        plan = progress or (None if planned is None else _as_kept(event, planned))
        if plan is not None and len(plan.bots) > MOST_BOTS:
            plan = structs.replace(plan, bots=dict(list(plan.bots.items())[:MOST_BOTS]))
        over = planned is not None and planned.finished is not None and not playing
        return EventTold(event, plan, counted or 0, playing, over)


def _as_kept(event: str, planned: LadderPlanned) -> EventProgress:
    """The plan of an event that another process plays or has played, as the store has it."""
    plan: Mapping[str, Any] = planned.plan
    return EventProgress(
        event=event,
        kind=planned.kind,
        game=str(plan.get("game", "")),
        maps=[str(each) for each in plan.get("maps", ())],
        format=str(plan.get("format", "")),
        rounds=plan.get("rounds"),
        time_control=str(plan.get("time control", "")),
        bots={str(name): str(what) for name, what in plan.get("bots", {}).items()},
        played=0,
        matches=None,
        due=[],
    )
