"""Worker of a cluster: it plays one pair of a ladder's matches on a server of its own.

The job contains everything that the worker needs, and the result all records. Only the ladder's process writes to the
store of the event.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

import anyio

from arena.games.catalogue import CATALOGUE, find_rules_mismatch_reason
from arena.games.core import GameError
from arena.games.loading import split_spec
from arena.ladder.bot_pool import BotRefused
from arena.ladder.bot_processes import open_bot_processes
from arena.ladder.event_openings import ListedOpenings
from arena.ladder.event_terms import EventTerms
from arena.ladder.plan import BotPlan, list_own_time_controls
from arena.ladder.runner import MatchRunner
from arena.ladder.threads import ThreadAllocation
from arena.match.terms import Terms, from_json
from arena.processes.bot_process import RestartPolicy
from arena.protocol.record import Record, to_line
from arena.rating.pairing import Pairing
from arena.server.host import open_host
from arena.server.settings import make_private_host_settings

_OPENING_LOCK = Lock()
"""Lock held while a server is opened, because the migration library handles one store at a time per process."""


@dataclass(frozen=True)
class PairJob:
    """The remaining matches of one pair of bots."""

    terms: str
    """Terms of the first remaining match, written by `match.terms.to_json`. The other match has another id and swapped
    seats.
    """
    matches: tuple[tuple[str, Pairing], ...]
    """Remaining matches with their ids, in the order in which they are played."""
    bots: tuple[BotPlan, ...]
    folder: str
    """Folder of the bots' files; if it does not exist on the worker, the worker's current folder is used."""
    restart_policy: RestartPolicy
    games: tuple[str, ...] = ()
    """Custom games that the ladder has loaded, as `FILE.py:Class`."""
    rules: str = ""
    """Digest of the rules of the pair's game; empty for a built-in game."""


@dataclass
class PairResult:
    """Result of a pair: the records, and problems of the bots."""

    records: list[str] = field(default_factory=list)
    """Records of the played matches, one line each."""
    notices: list[str] = field(default_factory=list)
    """Crashes and other problems of the bots, as texts for the ladder's observer."""


def play_pair(job: PairJob) -> PairResult:
    """Play the matches of a job one after another. Raises BotRefused if a game or a bot cannot be loaded."""
    folder = Path(job.folder)
    try:
        games = [_resolve_local_spec(spec) for spec in job.games]
        for spec in games:
            CATALOGUE.register(spec)
        terms = from_json(job.terms)
        mismatch = find_rules_mismatch_reason(terms.game, job.rules)
    except GameError as error:
        raise BotRefused(f"a worker of the cluster cannot play the match: {error}") from None
    if mismatch is not None:
        raise BotRefused(f"a worker of the cluster cannot play the match: {mismatch}")
    return anyio.run(_play_job, job, terms, games, folder if folder.is_dir() else None)


def _resolve_local_spec(spec: str) -> str:
    """Return the game's spec with the path of its file on this machine.

    The path stays as given if the file exists there; otherwise it is the same file name in the worker's current folder.
    """
    file, name = split_spec(spec)
    return spec if Path(file).is_file() else f"{Path(file).name}:{name}"


async def _play_job(
    job: PairJob, match_terms: Terms, games: Sequence[str], folder: Path | None
) -> PairResult:
    pair_result = PairResult()

    def add_record(_pairing: Pairing, record: Record) -> None:
        pair_result.records.append(to_line(record))

    async with AsyncExitStack() as stack:
        # Each thread of a worker has its own event loop, so waiting for the lock cannot block its holder.
        with _OPENING_LOCK:
            host = await stack.enter_async_context(
                open_host(make_private_host_settings(grace_seconds=match_terms.grace_ms / 1000))
            )
        processes = await stack.enter_async_context(
            open_bot_processes(
                host,
                job.bots,
                folder=folder,
                restart_policy=job.restart_policy,
                games=games,
                on_notice=pair_result.notices.append,
            )
        )
        await processes.wait_until_connected()
        terms = _make_event_terms(match_terms, job.bots)
        await MatchRunner(host, processes, terms, allocate_worker_threads(job.bots), add_record).run(
            _AssignedMatches(job.matches)
        )
    return pair_result


def allocate_worker_threads(bots: Sequence[BotPlan]) -> ThreadAllocation:
    """Return a worker's thread allocation: one match at a time, and one thread for a bot whose plan sets no number.

    Other pairs may run on the same machine, so its free cores are unknown.
    """
    return ThreadAllocation(bots, cores=1, fixed_concurrency=1)


def _make_event_terms(terms: Terms, bots: Sequence[BotPlan]) -> EventTerms:
    return EventTerms(
        event=terms.event,
        starts=(terms.game,),
        time_control=terms.time_control,
        odds=list_own_time_controls(bots),
        margin_ms=terms.margin_ms,
        ready_ms=terms.ready_ms,
        openings=ListedOpenings([[terms.opening]]),
        adjudication=terms.adjudication,
    )


class _AssignedMatches:
    """Matches of a job, as a `ladder.runner.MatchQueue`."""

    def __init__(self, matches: Sequence[tuple[str, Pairing]]) -> None:
        # The terms of this worker have only one start, so its index is 0, unlike in the event.
        self._remaining = {
            replace(pairing, pair=replace(pairing.pair, start=0)): match for match, pairing in matches
        }

    def __len__(self) -> int:
        return len(self._remaining)

    def list_startable_pairings(self) -> list[Pairing]:
        return list(self._remaining)[:1]

    def make_next_match_id(self, pairing: Pairing) -> str:
        return self._remaining[pairing]

    def mark_started(self, pairing: Pairing) -> None:
        del self._remaining[pairing]

    def record_result(self, _pairing: Pairing, _record: Record) -> bool:
        """Return True, because the ladder's process decides which void matches are played again."""
        return True
