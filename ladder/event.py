"""A ladder as an event: its plan, its schedule, and what has been played of it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from arena.cores import cores
from arena.games.catalogue import KNOWN
from arena.games.core import AnyGame
from arena.games.riskless import Riskless
from arena.ladder.cores import cores_for_bots
from arena.ladder.formats import make_format
from arena.ladder.openings import NoOpenings, Openings
from arena.ladder.plan import BotPlan, LadderPlan, odds_of
from arena.ladder.runner import named
from arena.ladder.schedule import Schedule
from arena.ladder.threads import Threads
from arena.maps.openings import shipped_openings
from arena.protocol.record import Record
from arena.rating.pairing import Pairing
from arena.rating.pentanomial import Counts, difference, pair_counts
from arena.rating.standings import Row, pair_scores, rows_by_pairs, table
from arena.server.store.ladder_lock import digest


@dataclass
class Ladder:
    """A ladder's plan and what has been played of it."""

    plan: LadderPlan
    starts: Sequence[AnyGame]
    record: Path | None = None
    """The file that finished matches are appended to, a line each. None: one named after the time of the event's beginning."""
    kind: str = "ladder"
    openings: Openings = field(default_factory=NoOpenings)
    machine: Sequence[int] = field(default_factory=cores)
    """The cores that there are, by their numbers."""
    named: bool = True
    """Whether the event has a name of its own; the last event without one is otherwise gone on with."""
    schedule: Schedule | None = None
    played: list[tuple[Pairing, Record]] = field(default_factory=list)
    resumed: int = 0
    """How many matches of `played` had been played before this run began."""
    stopped: bool = False
    """Whether it was stopped before its end."""

    def __post_init__(self) -> None:
        if self.plan.bots:
            self.begin(uuid.uuid4())

    def call(self, event: str) -> None:
        """Give the event the name under which it is played."""
        self.plan = replace(self.plan, event=event)

    def write_to(self, record: Path) -> None:
        """Let finished matches go into this file."""
        self.record = record

    def enrol(self, names: Sequence[str]) -> None:
        """Let the bots of these names play: where the plan has none, before the first match."""
        self.plan = replace(self.plan, bots=tuple(BotPlan(name) for name in names))

    def begin(self, event: UUID, done: Mapping[str, Record] | None = None) -> list[Record]:
        """Make the schedule, less the matches that are done already.

        done   finished matches by id, in the order of finishing

        Returns the records of void matches that are to be played again.
        """
        plan = self.plan
        format = make_format(plan.format, self.bots, plan.rounds, len(self.starts), plan.seed)
        self.schedule = Schedule(event, format)
        played, again = self.schedule.resume(done or {})
        self.played = [(pairing, named(pairing, record)) for pairing, record in played]
        self.resumed = len(self.played)
        return again

    def add(self, pairing: Pairing, record: Record) -> None:
        """Count a match that has ended."""
        self.played.append((pairing, record))

    def stop(self) -> None:
        """Note that somebody stopped it before its end."""
        self.stopped = True

    @property
    def bots(self) -> list[str]:
        return [bot.name for bot in self.plan.bots]

    @property
    def records(self) -> list[Record]:
        return [record for _, record in self.played]

    def table(self) -> list[Row]:
        """The table of the bots, the highest rating first. Of a match between two, Elo is what its pairs show."""
        rows = table(self.bots, self.records)
        pairs = self.pairs() if self.kind == "match" else ()
        return rows_by_pairs(rows, self.bots[0], difference(pairs)) if pairs else rows

    def pairs(self) -> Counts:
        """How many pairs gave the first of two bots 0, ½, 1, 1½ and 2 points."""
        return pair_counts(pair_scores(self.bots[0], self.played))

    @property
    def threads(self) -> Threads:
        """Who may search with how many threads, and how many matches go at once."""
        return Threads(self.plan.bots, len(self.cores), self.plan.concurrency, self.matches)

    @property
    def concurrency(self) -> int:
        """How many matches are played at once at the most."""
        return self.threads.concurrency

    @property
    def cores(self) -> list[int]:
        """The cores that bots think on, by their numbers."""
        return cores_for_bots(list(self.machine)) if self.plan.pin else list(self.machine)

    @property
    def matches(self) -> int | None:
        """How many matches are to be played in all, as far as is known; None where there is no end."""
        return self.schedule.matches if self.schedule is not None else 0

    def identity(self) -> dict[str, Any]:
        """What must be the same when the event goes on, as plain data by the words in which people speak of it."""
        plan = self.plan
        return {
            "game": plan.game,
            "maps": [Path(name).name for name in plan.maps] if plan.game == Riskless.name else [],
            "setups": [digest(start.setup()) for start in self.starts],
            # An event of a game that comes with the project is kept without them, as it always was.
            **({"rules": rules} if any(rules := [KNOWN.rules(start) for start in self.starts]) else {}),
            "bots": {bot.name: bot.what for bot in plan.bots},
            "format": plan.format,
            "rounds": plan.rounds,
            "time control": str(plan.time_control),
            **({"time odds": odds} if (odds := odds_of(plan.bots)) else {}),
            "margin": plan.margin_ms,
            "openings": self._listed(),
            "adjudication": str(plan.adjudication) if plan.adjudication else None,
            "seed": plan.seed,
        }

    def _listed(self) -> int | str:
        """The openings as a number of random plies, or a digest of the texts that list them."""
        plan = self.plan
        if isinstance(plan.openings, int):
            return plan.openings
        if isinstance(plan.openings, Path):
            return digest(plan.openings.read_text(encoding="utf-8"))
        maps = plan.maps if plan.game == Riskless.name else ()
        texts = [
            path.read_text(encoding="utf-8") if (path := shipped_openings(name)) else "" for name in maps
        ]
        return digest(texts) if any(texts) else 0
