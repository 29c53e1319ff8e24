"""Several servers as one arena: bots on different servers play, watch and challenge as if there were one."""

from __future__ import annotations

from protocol.codes import EndReason
from server.lobby.matchmaking.matchmaker import OPEN_EVENT
from server.store.journal.reader import records_of
from testkit.players import Player
from tests.server.arena.arenas import arena, offer, playing, until


async def test_bots_of_different_servers_play_rated_matches_to_their_ends(database: str) -> None:
    async with arena(database, 2, offer=offer()) as (one, other):
        anna, bert = Player(one.url, "anna"), Player(other.url, "bert")
        async with playing(anna, bert):
            await until(lambda: sum(map(len, anna.ends.values())) >= 3)
            await until(lambda: set(anna.ends) <= set(bert.ends))
        records = await records_of(one.engine, OPEN_EVENT)
    # The end is told before the record is in the store.
    kept = [record for record in records if record.match in anna.ends and record.match in bert.ends]
    assert len(kept) >= 2
    for record in kept:
        assert record.result.reason in (EndReason.LINE, EndReason.BOARD_FULL)
        (end,) = anna.ends[record.match]
        assert (end,) == tuple(bert.ends[record.match])
        assert [each.move for each in record.moves] == list(end.moves)
    assert not anna.refused
    assert not bert.refused
