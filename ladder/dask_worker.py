"""Worker of a Dask cluster: it plays one pair of a ladder's matches on a server of its own.

A job contains everything that the worker needs, and its result contains all records. Only the process of the ladder
writes to the store of the event.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from arena.games.catalogue import CATALOGUE, explain_rules_mismatch
from arena.games.core import GameError
from arena.games.loading import split_file_spec
from arena.ladder.bot_pool import BotConnectionPool, BotNotStarted
from arena.ladder.bot_processes import RECONNECT_GRACE_MS, open_bot_processes
from arena.ladder.plan import BotPlan
from arena.ladder.runner import (
    MatchHost,
    make_forfeit_record,
    play_match_with_time_limit,
    report_match_to_pool,
    reserve_connections,
)
from arena.match.terms import MatchTerms, decode_terms
from arena.processes.bot_process import RestartPolicy
from arena.protocol.record import Record, format_record_line
from arena.server.host import open_arena_server
from arena.server.settings import make_private_server_settings


@dataclass(frozen=True)
class PairJob:
    """Job of a worker: the unplayed matches of one pair. A pair is two matches of the same bots with swapped seats."""

    encoded_terms: tuple[str, ...]
    """Terms of the unplayed matches, encoded by `match.terms.encode_terms`, in the order in which the matches are played."""
    bots: tuple[BotPlan, ...]
    bot_folder: str
    """Folder of the bots' files. If the worker has no such folder, the bots run in the worker's current folder."""
    restart_policy: RestartPolicy
    game_specs: tuple[str, ...] = ()
    """Custom games that the ladder has loaded, as `FILE.py:Class`."""
    rules_digest: str = ""
    """Hash of the rules by which the ladder plays a custom game; a worker with other rules fails. Empty for a built-in game."""


@dataclass
class PairResult:
    """Result of a `PairJob`: records of the played matches, and messages about the bots."""

    record_lines: list[str] = field(default_factory=list)
    """Records of the played matches, one line each, in the order of `PairJob.encoded_terms`."""
    notices: list[str] = field(default_factory=list)
    """Messages about crashes and other problems of the bots, for the user of the ladder."""


def play_pair(job: PairJob) -> PairResult:
    """Play the matches of a job one after another, and return their records.

    Raises BotNotStarted if a game or a bot cannot be loaded.
    """
    folder = Path(job.bot_folder)
    try:
        games = [_resolve_game_spec(spec) for spec in job.game_specs]
        for spec in games:
            CATALOGUE.register_game(spec)
        matches = [decode_terms(text) for text in job.encoded_terms]
        mismatch = explain_rules_mismatch(matches[0].game, job.rules_digest)
    except GameError as error:
        raise BotNotStarted(f"a worker of the cluster cannot play the match: {error}") from None
    if mismatch is not None:
        raise BotNotStarted(f"a worker of the cluster cannot play the match: {mismatch}")
    return anyio.run(_play_pair_on_private_server, job, matches, games, folder if folder.is_dir() else None)


def _resolve_game_spec(game_spec: str) -> str:
    """Return the spec of a game (FILE.py:Class) with a path of the file that exists on this machine.

    A path that exists is kept. Otherwise, the path is replaced by the same file name in the worker's current folder.
    """
    file, name = split_file_spec(game_spec)
    return game_spec if Path(file).is_file() else f"{Path(file).name}:{name}"


async def _play_pair_on_private_server(
    job: PairJob, match_terms: Sequence[MatchTerms], game_specs: Sequence[str], bot_folder: Path | None
) -> PairResult:
    pair_result = PairResult()
    async with AsyncExitStack() as stack:
        host = await stack.enter_async_context(
            open_arena_server(make_private_server_settings(grace_seconds=RECONNECT_GRACE_MS / 1000))
        )
        processes = await stack.enter_async_context(
            open_bot_processes(
                host,
                job.bots,
                folder=bot_folder,
                restart_policy=job.restart_policy,
                game_specs=game_specs,
                on_notice=pair_result.notices.append,
            )
        )
        await processes.wait_until_connected()
        for terms in match_terms:
            pair_result.record_lines.append(
                format_record_line(await _play_match(terms, host.shell, processes))
            )
    return pair_result


async def _play_match(terms: MatchTerms, host: MatchHost, pool: BotConnectionPool) -> Record:
    """Play a match on the server `host` as soon as its bots are free, and return its record.

    A bot that dropped out, which will not be restarted, forfeits the match once the other bot is free.

    Raises BotNotStarted if a bot cannot be started.
    """
    while True:
        pool.raise_if_bot_not_started()
        bots = [bot for bot in (terms.players.maxie, terms.players.minnie) if not pool.has_dropped_out(bot)]
        names = reserve_connections(pool, bots)
        if names is not None:
            break
        await pool.wait_for_bot_change()
    if len(bots) == 2:
        record = await play_match_with_time_limit(terms, host)
        report_match_to_pool(record, pool, terms.players)
    else:
        for name in names:
            pool.release_connection(name)
        record = make_forfeit_record(terms, pool)
    return record
