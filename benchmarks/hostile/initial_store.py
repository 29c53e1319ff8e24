"""Initial store of the hostile benchmark: tokens, and finished matches with analysis (`thinking`) of maximum size."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from arena.bots.client.state.moves import MAX_MAIN_LINE_MOVES
from arena.maps.game_on_map import make_game_on_map
from arena.protocol.codes import EndReason
from arena.protocol.record import RECORD_FORMAT, Record, RecordedMove, Result
from arena.protocol.values import Players, Thinking
from arena.server.store import tokens
from arena.server.store.database import create_or_migrate_store, open_engine
from benchmarks.hostile.kinds import REVOKED_BOTS, THINKING_BOT_NAMES
from benchmarks.kit.scripted_match import make_long_match_moves
from testkit.stored_records import import_record_lines

LARGE_MATCH_COUNT = 40
"""Number of finished matches in the store whose moves have analysis (`thinking`) of maximum size."""


def make_large_records(record_count: int) -> Iterator[bytes]:
    """Yield `record_count` match records, each as a line of JSON, in which every move has `thinking` of maximum size."""
    game: Any = make_game_on_map("riskless", "m2")
    moves = make_long_match_moves()
    line = [(moves * 2)[ply : ply + MAX_MAIN_LINE_MOVES] for ply in range(len(moves))]
    for _ in range(record_count):
        yield msgspec.json.encode(
            Record(
                format=RECORD_FORMAT,
                match=uuid.uuid4().hex,
                event="thinking",
                game="riskless",
                setup=game.setup(),
                players=Players(*THINKING_BOT_NAMES),
                time_control="60+1",
                started=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
                moves=[
                    RecordedMove(move, 1.0, Thinking(99_999, 1.0, 2**60, line[ply]))
                    for ply, move in enumerate(moves)
                ],
                result=Result(None, EndReason.PLY_LIMIT),
            )
        )


async def create_initial_store(database_url: str, bot_names: Sequence[str]) -> dict[str, str]:
    """Create a store with long match records, revoked tokens and a token for each name. Return the tokens by name.

    database_url: URL of the store, which must be empty. Raises RuntimeError if the store rejects a record.
    """
    async with open_engine(database_url) as engine:
        await create_or_migrate_store(engine)
        counts = await import_record_lines(engine, make_large_records(LARGE_MATCH_COUNT))
        if counts.reason_by_rejected_line:
            raise RuntimeError(
                f"the store rejected records of the benchmark: {counts.reason_by_rejected_line}"
            )
        for name in REVOKED_BOTS:
            await tokens.create_token(engine, name, "bot")
            await tokens.revoke_token(engine, name)
        return {name: await tokens.create_token(engine, name, "bot") for name in bot_names}
