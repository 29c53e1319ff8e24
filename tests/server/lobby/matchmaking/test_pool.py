"""The pool on a running server: several time controls, openings in pairs, pauses, and what a bot says it plays."""

from __future__ import annotations

from collections import Counter
from time import monotonic

import anyio

from arena.protocol.record import Record
from arena.protocol.timecontrol import TimeControl
from arena.server.host import open_host
from arena.server.lobby.matchmaking.matchmaker import Course, Offer
from tests.server.matches import game_of
from tests.server.peer import enter

FAST, SLOW = TimeControl.parse("20+0.1"), TimeControl.parse("30+0.1")
GAME = game_of()
OPENINGS = ((0, 1), (4, 8))


async def played(offer: Offer, matches: int, **hellos: list[str]) -> list[tuple[float, Record]]:
    """The first matches of two bots that keep to these time controls, with when each was over."""
    records: list[tuple[float, Record]] = []
    enough = anyio.Event()

    async def tell(record: Record) -> None:
        records.append((monotonic(), record))
        if len(records) == matches:
            enough.set()

    with anyio.fail_after(60):
        async with open_host(offer=offer, on_record=tell) as host, anyio.create_task_group() as tasks:

            async def bot(name: str, controls: list[str]) -> None:
                async with enter(host, name, time_controls=controls) as peer:
                    while True:
                        await peer.play(GAME)

            for name, controls in hellos.items():
                tasks.start_soon(bot, name, controls)
            await enough.wait()
            tasks.cancel_scope.cancel()
    return records[:matches]


def begun(record: Record) -> tuple[str, tuple[object, ...]]:
    return record.time_control, tuple(each.move for each in record.moves if each.opening)


async def test_each_course_and_opening_is_played_from_both_seats() -> None:
    offer = Offer(GAME, FAST, 100, 30_000, "open", openings=OPENINGS, others=(Course(GAME, SLOW, OPENINGS),))
    records = [record for _, record in await played(offer, 8, anna=[], bert=[])]
    assert {begun(each) for each in records} == {
        (str(time), opening) for time in (FAST, SLOW) for opening in OPENINGS
    }
    assert set(Counter((*begun(each), each.players.maxie) for each in records).values()) == {1}
    for first, second in zip(records[::2], records[1::2], strict=True):
        assert begun(first) == begun(second)


async def test_a_bot_gets_of_the_pool_what_it_plays() -> None:
    offer = Offer(GAME, FAST, 100, 30_000, "open", others=(Course(GAME, SLOW),))
    records = await played(offer, 3, anna=[], bert=[str(SLOW)])
    assert {record.time_control for _, record in records} == {str(SLOW)}


async def test_two_rest_between_their_matches() -> None:
    (first, _), (second, _) = await played(
        Offer(GAME, FAST, 100, 30_000, "open", pause=0.3), 2, anna=[], bert=[]
    )
    assert second - first >= 0.3
