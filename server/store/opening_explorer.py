"""Opening explorer: the moves played from a position in the newest matches on a map, with their results.

A position is found whichever moves led to it. The store has no index of positions, because it would slow down the
storing of matches. Instead, the records of a limited number of matches are read and replayed, the newest first.
"""

from __future__ import annotations

from collections import Counter

import anyio.to_thread
import sqlalchemy as sa
from msgspec import Struct, field

from arena.games.riskless import Riskless, RisklessPosition
from arena.protocol.record import parse_record_line
from arena.server.store.database import Engine, open_query_connection
from arena.server.store.finished_matches import IS_FINISHED_MATCH
from arena.server.store.packing import unpack_record
from arena.server.store.schema import matches, records

MAX_REPLAYED_MATCHES = 250
"""Maximum number of matches that one search for a position examines: the newest matches on the position's map."""
MAX_SEARCHED_POSITION_PLY = 40
"""Maximum number of moves that may precede a position that is searched for."""
MAX_CONTINUATIONS = 12
"""Maximum number of different moves that a search returns: the most frequent ones."""


class Continuation(Struct, frozen=True):
    """Move that was played from a position, with the results of the matches in which it was played."""

    move: str
    maxie_win_count: int = field(name="maxie")
    """Number of matches with this move that Maxie (the first player) won."""
    draw_count: int = field(name="drawn")
    """Number of matches with this move that were drawn."""
    minnie_win_count: int = field(name="minnie")
    """Number of matches with this move that Minnie (the second player) won."""


class Continuations(Struct, frozen=True):
    """Moves played from a position, the most frequent first."""

    examined_match_count: int = field(name="examined")
    """Number of matches that were examined: the newest on the position's map, whether or not they reached the position."""
    moves: list[Continuation]


async def find_continuations(engine: Engine, game: Riskless, position: RisklessPosition) -> Continuations:
    """Return the moves played from a position in the MAX_REPLAYED_MATCHES newest matches on the map of `game`.

    Matches that ended by a fault of the server, or that were played on an earlier version of the map, do not count.
    """
    columns = (matches.c.number, matches.c.game, matches.c.plies, matches.c.winner, matches.c.reason)
    newest_query = sa.select(*columns).where(matches.c.map == game.map.name, IS_FINISHED_MATCH)
    newest_query = newest_query.order_by(matches.c.finished.desc(), matches.c.number.desc()).limit(
        MAX_REPLAYED_MATCHES
    )
    async with open_query_connection(engine) as connection:
        rows = [
            row
            for row in await connection.execute(newest_query)
            if row.game == game.name and row.reason != "server_fault"
        ]
        winners = {row.number: row.winner for row in rows if row.plies > position.ply}
        packed = sa.select(records.c.number, records.c.packed).where(records.c.number.in_(winners))
        packed_matches = [(winners[row.number], row.packed) for row in await connection.execute(packed)]
    moves = await anyio.to_thread.run_sync(_count_moves_from_position, game, position, packed_matches)
    return Continuations(len(rows), moves)


def _count_moves_from_position(
    game: Riskless, position: RisklessPosition, packed_matches: list[tuple[str | None, bytes]]
) -> list[Continuation]:
    """Return the moves played from a position, the most frequent first.

    packed_matches: the winner (None if nobody won) and the packed data of each match
    """
    counts: dict[str, Counter[str | None]] = {}
    setup = game.setup()
    for winner, packed in packed_matches:
        record = parse_record_line(unpack_record(packed))
        if record.setup != setup:
            continue  # the match was played on another version of the map
        reached_position = game.start()
        for recorded_move in record.moves[: position.ply]:
            reached_position = game.play(reached_position, game.move_from_data(recorded_move.move))
        if reached_position == position:
            move = game.move_to_text(game.move_from_data(record.moves[position.ply].move))
            counts.setdefault(move, Counter())[winner] += 1
    sorted_counts = sorted(counts.items(), key=lambda item: (-item[1].total(), item[0]))
    return [
        Continuation(move, results["maxie"], results[None], results["minnie"])
        for move, results in sorted_counts[:MAX_CONTINUATIONS]
    ]
