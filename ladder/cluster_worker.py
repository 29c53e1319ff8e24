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

from arena.games.catalogue import KNOWN, differing_rules
from arena.games.core import GameError
from arena.games.loading import split_spec
from arena.ladder.bots import BotRefused
from arena.ladder.event_terms import EventTerms
from arena.ladder.fleet import open_fleet
from arena.ladder.openings import ListedOpenings
from arena.ladder.plan import BotPlan, odds_of
from arena.ladder.runner import Runner
from arena.ladder.threads import Threads
from arena.match.terms import Terms, from_json
from arena.protocol.record import Record, to_line
from arena.rating.pairing import Pairing
from arena.server.host import open_host
from arena.server.processes.bot_process import Patience
from arena.server.settings import private

_OPENING = Lock()
"""Held while a host is opened: the library that brings a store up to date does one at a time in a process."""


@dataclass(frozen=True)
class PairJob:
    """One pair, or what is left of it: all that its two bots play without anybody else."""

    terms: str
    """The terms of the first match that is left, as `match.terms.to_json` writes them; the other match differs in its
    id and its seats."""
    matches: tuple[tuple[str, Pairing], ...]
    """The matches that are left, each with its id, in the order in which they are played."""
    bots: tuple[BotPlan, ...]
    folder: str
    """Where the bots' files are, if the worker has such a folder."""
    patience: Patience
    games: tuple[str, ...] = ()
    """The games of files that the ladder knows, as `FILE.py:Class`."""
    rules: str = ""
    """The digest of the rules of the pair's game; empty for a game of the project."""


@dataclass
class PairDone:
    """What came of a pair."""

    records: list[str] = field(default_factory=list)
    """The records of the matches that were played, a line each."""
    notices: list[str] = field(default_factory=list)
    """What went wrong with the bots, as a ladder's watcher is told."""


def play_pair(job: PairJob) -> PairDone:
    """Play the matches of a job, one after the other. Raises BotRefused."""
    folder = Path(job.folder)
    try:
        games = [_here(spec) for spec in job.games]
        for spec in games:
            KNOWN.name(spec)
        terms = from_json(job.terms)
        differ = differing_rules(terms.game, job.rules)
    except GameError as error:
        raise BotRefused(f"a worker of the cluster cannot play it: {error}") from None
    if differ is not None:
        raise BotRefused(f"a worker of the cluster cannot play it: {differ}")
    return anyio.run(_play, job, terms, games, folder if folder.is_dir() else None)


def _here(spec: str) -> str:
    """The game's file on this machine: where the ladder's own process has it, else in the worker's folder."""
    file, name = split_spec(spec)
    return spec if Path(file).is_file() else f"{Path(file).name}:{name}"


async def _play(job: PairJob, given: Terms, games: Sequence[str], folder: Path | None) -> PairDone:
    done, refused = PairDone(), None

    def played(_pairing: Pairing, record: Record) -> None:
        done.records.append(to_line(record))

    async with AsyncExitStack() as stack:
        # A worker's threads each have an event loop, so the lock holds up nobody who has it.
        with _OPENING:
            host = await stack.enter_async_context(open_host(private(grace_seconds=given.grace_ms / 1000)))
        fleet = await stack.enter_async_context(
            open_fleet(
                host,
                job.bots,
                folder=folder,
                patience=job.patience,
                games=games,
                notice=done.notices.append,
            )
        )
        try:
            await fleet.settle()
            terms = _event_terms(given, job.bots)
            await Runner(host, fleet, terms, told_threads(job.bots), played).run(_GivenMatches(job.matches))
        except BotRefused as error:
            refused = error  # raised outside the fleet's task group, which would wrap it
    if refused is not None:
        raise refused
    return done


def told_threads(bots: Sequence[BotPlan]) -> Threads:
    """One match at a time on one core, but with the threads that somebody has said for a bot.

    How many pairs a worker plays at once is decided where it is started, so nobody knows what its machine has left.
    """
    return Threads(bots, cores=1, by_hand=1)


def _event_terms(terms: Terms, bots: Sequence[BotPlan]) -> EventTerms:
    return EventTerms(
        event=terms.event,
        starts=(terms.game,),
        time_control=terms.time_control,
        odds=odds_of(bots),
        margin_ms=terms.margin_ms,
        ready_ms=terms.ready_ms,
        openings=ListedOpenings([[terms.opening]]),
        adjudication=terms.adjudication,
    )


class _GivenMatches:
    """Matches that somebody else has scheduled, who also decides whether a void one is played again."""

    def __init__(self, matches: Sequence[tuple[str, Pairing]]) -> None:
        # This host has one start, whatever place that has in the event.
        self._left = {
            replace(pairing, pair=replace(pairing.pair, start=0)): match for match, pairing in matches
        }

    def __len__(self) -> int:
        return len(self._left)

    def heads(self) -> list[Pairing]:
        """The next match, if any is left."""
        return list(self._left)[:1]

    def id_of(self, pairing: Pairing) -> str:
        """The id of a match that is left."""
        return self._left[pairing]

    def take(self, head: Pairing) -> None:
        """Note that the next match is begun."""
        del self._left[head]

    def ended(self, _pairing: Pairing, _record: Record) -> bool:
        """Whether a match is over: always, however it ended."""
        return True
