"""Rated matches that repeat an earlier one: they count nothing, for two bots that always answer alike say nothing new by it.

A match repeats another where the same two bots had the same seats, made the same moves and ended in the same way.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import msgspec
import sqlalchemy as sa

from arena.protocol.record import Record
from arena.server.store.schema import matches

DIGEST_BYTES = 16


def digest_of(record: Record) -> bytes:
    """What two matches have in common of which one repeats the other, however long their moves took."""
    moves = [each.move for each in record.moves]
    told = [record.game, record.setup, record.players, moves, record.result.winner, record.result.reason]
    text = msgspec.json.encode(told, order="deterministic")
    return hashlib.sha256(text).digest()[:DIGEST_BYTES]


@lru_cache(maxsize=1)
def repeated() -> sa.ColumnElement[bool]:
    """Whether the store has a rated match with the digest `played`, which is a parameter. One look into an index."""
    earlier = matches.alias("earlier")
    same = earlier.c.played == sa.bindparam("played", type_=matches.c.played.type)
    return sa.exists().where(same, earlier.c.played.is_not(None))
