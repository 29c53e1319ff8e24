"""What a worker of a cluster does for a ladder elsewhere: it plays one pair here, on a host of its own.

Everything that it needs is in the job, and everything that came of it in the answer; the ladder's own
process alone writes the event's store.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

import anyio

from games.catalogue import make_game
from ladder.file import BotPlan
from ladder.fleet import BotRefused, open_fleet
from ladder.openings import ListedOpenings
from ladder.runner import Runner, Terms
from protocol.adjudication import Adjudication
from protocol.messages import Data
from protocol.record import Record, to_line
from protocol.timecontrol import TimeControl
from rating.pairing import Pairing
from server.host import open_host
from server.processes.bot_process import Patience

_OPENING = Lock()
"""Stores are brought up to date by a library that does one at a time in a process."""


@dataclass(frozen=True)
class PairJob:
    """One pair, or what is left of it: all that its two bots play without anybody else."""

    event: str
    matches: tuple[tuple[str, Pairing], ...]
    """Each with its id, in their order."""
    bots: tuple[BotPlan, ...]
    folder: str
    """Where the bots' files are, if the worker has such a folder."""
    game: str
    setup: dict[str, Data]
    opening: tuple[Data, ...]
    time_control: TimeControl
    margin_ms: int
    ready_ms: int
    grace_ms: int
    threads: int
    adjudication: Adjudication | None
    patience: Patience


@dataclass
class PairDone:
    """What came of a pair."""

    records: list[str] = field(default_factory=list)
    """A line each, as far as a match was played."""
    notices: list[str] = field(default_factory=list)
    """What went wrong with a bot, as the ladder tells it."""


def play_pair(job: PairJob) -> PairDone:
    """Play the matches of a job, one after the other. Raises BotRefused."""
    folder = Path(job.folder)
    return anyio.run(_play, job, folder if folder.is_dir() else None)


async def _play(job: PairJob, folder: Path | None) -> PairDone:
    done, refused = PairDone(), None

    def played(_pairing: Pairing, record: Record) -> None:
        done.records.append(to_line(record))

    async with AsyncExitStack() as stack:
        # A worker's threads each have an event loop, so the lock holds up nobody who has it.
        with _OPENING:
            host = await stack.enter_async_context(open_host(grace_ms=job.grace_ms))
        fleet = await stack.enter_async_context(
            open_fleet(
                host,
                job.bots,
                folder=folder,
                patience=job.patience,
                notice=done.notices.append,
            )
        )
        try:
            await fleet.settle()
            await Runner(host, fleet, _terms(job), 1, played).run(_Given(job.matches))
        except BotRefused as error:
            refused = error  # raised outside the fleet's task group, which would wrap it
    if refused is not None:
        raise refused
    return done


def _terms(job: PairJob) -> Terms:
    return Terms(
        event=job.event,
        starts=(make_game(job.game, job.setup),),
        time_control=job.time_control,
        margin_ms=job.margin_ms,
        ready_ms=job.ready_ms,
        threads=job.threads,
        openings=ListedOpenings([[job.opening]]),
        adjudication=job.adjudication,
    )


class _Given:
    """Matches that somebody else has scheduled, who also decides whether a void one is played again."""

    def __init__(self, matches: Sequence[tuple[str, Pairing]]) -> None:
        # Here is one start, whatever its place in the event.
        self._left = {
            replace(pairing, pair=replace(pairing.pair, start=0)): match for match, pairing in matches
        }

    def __len__(self) -> int:
        return len(self._left)

    def heads(self) -> list[Pairing]:
        """The next match."""
        return list(self._left)[:1]

    def id_of(self, pairing: Pairing) -> str:
        """Its id."""
        return self._left[pairing]

    def take(self, head: Pairing) -> None:
        """It is begun."""
        del self._left[head]

    def ended(self, _pairing: Pairing, _record: Record) -> bool:
        """It is over, however it ended."""
        return True
