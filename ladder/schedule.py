"""What an event has yet to play: its format's pairs, less what has been played before.

Each match has an identity that follows from its event, its pair, its leg and its try. So an event that
was stopped, however hard, finds in the store what it has played.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from uuid import UUID, uuid5

from arena.ladder.formats import Format
from arena.protocol.record import Record
from arena.rating.pairing import Pair, Pairing
from arena.rating.standings import is_empty, is_void, losers

TRIES = 3
"""How often a match is begun that a fault of the server makes void; then it stays void."""


def match_id(event: UUID, pairing: Pairing, number: int) -> str:
    """The id of try `number` (from 0) of a pairing: 32 hexadecimal digits."""
    return uuid5(event, f"pair {pairing.pair.number} leg {pairing.leg} try {number}").hex


class Schedule:
    """The matches that are still to be played, by who plays them: what can start is found without a search.

    Two bots begin their matches in the order of the schedule.
    """

    def __init__(self, event: UUID, format: Format) -> None:
        self._event = event
        self._format = format
        self._queues: dict[frozenset[str], deque[Pairing]] = {}
        self._meeting: set[frozenset[str]] = set()
        self._tries: dict[Pairing, int] = {}
        self._points: dict[int, list[tuple[float, float]]] = {}
        self._waiting = 0
        self._feed(dry=True)

    def __len__(self) -> int:
        """How many matches wait to be played."""
        return self._waiting

    @property
    def matches(self) -> int | None:
        """How many matches there are in all, as far as that is known; None where there is no end."""
        return self._format.matches

    def resume(self, done: Mapping[str, Record]) -> tuple[list[tuple[Pairing, Record]], list[Record]]:
        """Take out what was played before (by match id): the matches that count, and those tried again.

        `done` is in the order of finishing, and so is what is returned.
        """
        left = dict(done)
        settled: list[tuple[Pairing, Record]] = []
        again: list[Record] = []
        fed = True
        while left and fed:
            fed = False
            for pairing in [each for queue in self._queues.values() for each in queue]:
                while (record := left.pop(self.id_of(pairing), None)) is not None:
                    self._remove(pairing)
                    fed = True
                    if self.ended(pairing, record):
                        settled.append((pairing, record))
                        break
                    again.append(record)
            if left and not fed:
                fed = self._feed(dry=True)
        if len(self._queues) < len(self._meeting):
            self._feed(dry=True)
        place = {match: index for index, match in enumerate(done)}
        return sorted(settled, key=lambda each: place[each[1].match]), again

    def id_of(self, pairing: Pairing) -> str:
        """The id of the match in which a pairing is to be played now."""
        return match_id(self._event, pairing, self._tries.get(pairing, 0))

    def heads(self) -> list[Pairing]:
        """The next match of each two bots, in the order of the schedule. O(n² log n) for n bots."""
        heads = [queue[0] for queue in self._queues.values()]
        return sorted(heads, key=lambda pairing: (pairing.pair.number, pairing.leg))

    def take(self, head: Pairing) -> None:
        """Note that one of the heads is begun."""
        self._remove(head)
        self._feed(dry=frozenset((head.maxie, head.minnie)) not in self._queues)

    def ended(self, pairing: Pairing, record: Record) -> bool:
        """A match that was begun is over: whether that is its end, or it is to be played again."""
        if is_void(record):
            tries = self._tries.get(pairing, 0) + 1
            if tries < TRIES:
                self._tries[pairing] = tries
                self._queue(pairing).appendleft(pairing)
                self._waiting += 1
                return False
        self._tries.pop(pairing, None)
        self._count(pairing, record)
        return True

    def _count(self, pairing: Pairing, record: Record) -> None:
        pair = pairing.pair
        legs = self._points.setdefault(pair.number, [])
        legs.append((points(pair.first, record), points(pair.second, record)))
        if len(legs) == 2:
            del self._points[pair.number]
            self._format.ended(pair, sum(first for first, _ in legs), sum(second for _, second in legs))
            self._feed(dry=False)

    def _feed(self, *, dry: bool) -> bool:
        pairs = self._format.more(dry=dry)
        for pair in pairs:
            self._add(pair)
        return bool(pairs)

    def _add(self, pair: Pair) -> None:
        self._meeting.add(frozenset((pair.first, pair.second)))
        for pairing in pair.matches():
            self._queue(pairing).append(pairing)
            self._waiting += 1

    def _queue(self, pairing: Pairing) -> deque[Pairing]:
        return self._queues.setdefault(frozenset((pairing.maxie, pairing.minnie)), deque())

    def _remove(self, pairing: Pairing) -> None:
        bots = frozenset((pairing.maxie, pairing.minnie))
        queue = self._queues[bots]
        queue.remove(pairing)
        self._waiting -= 1
        if not queue:
            del self._queues[bots]


def points(bot: str, record: Record) -> float:
    """The points that a match gave to one of its players: 1, ½ or 0; 0 to both where it is void or nobody came."""
    if is_void(record) or is_empty(record):
        return 0.0
    lost = losers(record)
    return 0.0 if bot in lost else 1.0 if lost else 0.5
