from __future__ import annotations

from collections import Counter
from itertools import combinations

import anyio
from hypothesis import given
from hypothesis import strategies as st

from protocol.record import Record
from protocol.timecontrol import TimeControl
from server.host import Host
from server.matchmaker import Meetings, Offer, keep_busy
from tests.server.matches import game_of
from tests.server.peer import enter


@given(st.lists(st.sets(st.sampled_from("abcdef")), max_size=80))
def test_the_choice_is_among_the_idle_and_meets_the_least_met(rounds: list[set[str]]) -> None:
    meetings, met = Meetings(), Counter[frozenset[str]]()
    for idle in rounds:
        pair = meetings.choose(sorted(idle))
        if len(idle) < 2:
            assert pair is None
            continue
        assert pair is not None
        assert set(pair) <= idle
        least = min(met[frozenset(each)] for each in combinations(idle, 2))
        assert met[frozenset(pair)] == least
        met[frozenset(pair)] += 1
        meetings.note(*pair)
        assert abs(meetings.count[pair] - meetings.count[pair[::-1]]) <= 1


async def test_bots_that_dial_in_are_kept_busy_with_each_other(host: Host) -> None:
    game = game_of()
    offer = Offer(game, TimeControl.parse("2+0.1"), 100, 5000, "open")
    records: list[Record] = []
    enough = anyio.Event()

    async def tell(record: Record) -> None:
        records.append(record)
        if len(records) == 6:
            enough.set()

    async def bot(name: str) -> None:
        async with enter(host, name) as peer:
            while True:
                await peer.play(game)

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            for name in ("anna", "bert", "carl"):
                tasks.start_soon(bot, name)
            tasks.start_soon(keep_busy, host, offer, tell, 2)
            await enough.wait()
            tasks.cancel_scope.cancel()
    met = Counter(frozenset((each.players.maxie, each.players.minnie)) for each in records)
    assert set(met.values()) == {2}
    assert all(each.result.reason.value in ("line", "board_full") for each in records)
