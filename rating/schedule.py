"""Schedule of an event (tournament): the matches that remain to be played, by the rules of the event's format.

The id of a match is a hash of its event, its pair, its index in the pair (leg) and the number of earlier attempts. So a
resumed event finds its played matches in the store by their ids.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from hashlib import sha256
from typing import TypeVar

from arena.protocol.codes import EndReason
from arena.protocol.record import Result
from arena.protocol.values import Players
from arena.rating.formats import EventFormat
from arena.rating.pairing import MatchPair, Pairing
from arena.rating.rater import AnyFinishedMatch
from arena.rating.standings import is_void

R = TypeVar("R", bound=AnyFinishedMatch)

MAX_ATTEMPTS_PER_MATCH = 3
"""Maximum number of times that a match is played. It is played again if a fault of the server has made it void."""


def make_match_id(event_uid: str, pairing: Pairing, attempt: int) -> str:
    """Return the id of a match: 32 hexadecimal digits.

    event_uid  unique id of the event
    pairing    match in the event's schedule
    attempt    number of earlier attempts to play it, all of them void
    """
    key = f"{event_uid} pair {pairing.pair.number} leg {pairing.leg} try {attempt}"
    return sha256(key.encode()).hexdigest()[:32]


class Schedule:
    """Matches of a tournament that have not started yet. Each two bots that meet have a queue of matches, in playing order.

    event_uid: unique id of the event, from which the ids of the matches are made
    """

    def __init__(self, event_uid: str, format: EventFormat) -> None:
        self._event_uid = event_uid
        self.format = format
        self._queues: dict[frozenset[str], deque[Pairing]] = {}
        self._scheduled_bot_pairs: set[frozenset[str]] = set()
        """Pairs of bots between which a match has been scheduled so far."""
        self._void_attempt_counts: dict[Pairing, int] = {}
        """Number of void attempts at each match that must be played again; matches without one are left out."""
        self._unfinished_pair_results: dict[int, list[tuple[dict[str, float], set[str]]]] = {}
        """Results of the played matches of unfinished pairs, by pair number: each match as (points by bot, absent bots)."""
        self._queued_count = 0
        self._add_next_pairs(may_begin_round=True)

    def __len__(self) -> int:
        """Return the number of matches waiting to be played."""
        return self._queued_count

    @property
    def total_matches(self) -> int | None:
        """Return the total number of matches, with the extra matches after ties so far; None for an endless event."""
        return self.format.total_matches

    def restore_results(self, finished_records: Mapping[str, R]) -> tuple[list[tuple[Pairing, R]], list[R]]:
        """Remove from the schedule the matches that were played before a restart.

        Return the records that count, each with its pairing, and the records of matches that must be played again.

        finished_records  records by match id, in the order in which the matches finished; the records that count are
                          returned in this order
        """
        records = dict(finished_records)
        counted_matches: list[tuple[Pairing, R]] = []
        void_records: list[R] = []
        has_progressed = True
        while records and has_progressed:
            has_progressed = False
            for pairing in [pairing for queue in self._queues.values() for pairing in queue]:
                while (record := records.pop(self.make_next_match_id(pairing), None)) is not None:
                    self._remove_pairing(pairing)
                    has_progressed = True
                    if self.record_result(pairing, record):
                        counted_matches.append((pairing, record))
                        break
                    void_records.append(record)
            if records and not has_progressed:
                has_progressed = self._add_next_pairs(may_begin_round=True)
        if len(self._queues) < len(self._scheduled_bot_pairs):
            self._add_next_pairs(may_begin_round=True)
        record_indexes = {match: index for index, match in enumerate(finished_records)}
        return sorted(
            counted_matches, key=lambda match_and_record: record_indexes[match_and_record[1].match]
        ), void_records

    def make_next_match_id(self, pairing: Pairing) -> str:
        """Return the id of the next attempt to play the match of a pairing. Each attempt has an id of its own."""
        return make_match_id(self._event_uid, pairing, self._void_attempt_counts.get(pairing, 0))

    def list_startable_pairings(self) -> list[Pairing]:
        """Return, for every two bots with matches left against each other, the next one, in playing order.

        Takes O(n² log n) time for n bots.
        """
        next_pairings = [queue[0] for queue in self._queues.values()]
        return sorted(next_pairings, key=lambda pairing: (pairing.pair.number, pairing.leg))

    def mark_started(self, pairing: Pairing) -> None:
        """Remove a match from the schedule, because it has started."""
        self._remove_pairing(pairing)
        self._add_next_pairs(may_begin_round=frozenset((pairing.maxie, pairing.minnie)) not in self._queues)

    def record_result(self, pairing: Pairing, record: AnyFinishedMatch) -> bool:
        """Record a finished match. Return True if the result counts, False if the match is void and must be played again.

        The result of the last attempt (MAX_ATTEMPTS_PER_MATCH) counts even if it is void: neither bot gets a point.
        """
        if is_void(record):
            attempts = self._void_attempt_counts.get(pairing, 0) + 1
            if attempts < MAX_ATTEMPTS_PER_MATCH:
                self._void_attempt_counts[pairing] = attempts
                self._get_queue_for_same_bots(pairing).appendleft(pairing)
                self._queued_count += 1
                return False
        self._void_attempt_counts.pop(pairing, None)
        self._record_pair_result_if_complete(pairing, record)
        return True

    def _record_pair_result_if_complete(self, pairing: Pairing, record: AnyFinishedMatch) -> None:
        pair = pairing.pair
        legs = self._unfinished_pair_results.setdefault(pair.number, [])
        legs.append((compute_points_by_bot(pairing, record.result), find_absent_bots(pairing, record.result)))
        if len(legs) == 2:
            del self._unfinished_pair_results[pair.number]
            bots = pair.first_bot, pair.second_bot
            first_points, second_points = (sum(points[bot] for points, _ in legs) for bot in bots)
            self.format.record_pair_result(pair, first_points, second_points, legs[0][1] & legs[1][1])
            self._add_next_pairs(may_begin_round=False)

    def _add_next_pairs(self, *, may_begin_round: bool) -> bool:
        pairs = self.format.make_next_pairs(may_begin_round=may_begin_round)
        for pair in pairs:
            self._add_pair(pair)
        return bool(pairs)

    def _add_pair(self, pair: MatchPair) -> None:
        self._scheduled_bot_pairs.add(frozenset((pair.first_bot, pair.second_bot)))
        for pairing in pair.make_pairings():
            self._get_queue_for_same_bots(pairing).append(pairing)
            self._queued_count += 1

    def _get_queue_for_same_bots(self, pairing: Pairing) -> deque[Pairing]:
        return self._queues.setdefault(frozenset((pairing.maxie, pairing.minnie)), deque())

    def _remove_pairing(self, pairing: Pairing) -> None:
        bots = frozenset((pairing.maxie, pairing.minnie))
        queue = self._queues[bots]
        queue.remove(pairing)
        self._queued_count -= 1
        if not queue:
            del self._queues[bots]


def compute_points_by_bot(pairing: Pairing | Players, result: Result) -> dict[str, float]:
    """Return the points of each bot in a match: 1, ½ or 0. Both get 0 if the match is void or if neither bot appeared."""
    has_no_points = result.reason in (EndReason.SERVER_FAULT, EndReason.NO_SHOW)
    if result.winner is None:
        return dict.fromkeys((pairing.maxie, pairing.minnie), 0.0 if has_no_points else 0.5)
    maxie_points = float(result.winner == "maxie")
    return {pairing.maxie: maxie_points, pairing.minnie: 1 - maxie_points}


def find_absent_bots(pairing: Pairing, result: Result) -> set[str]:
    """Return the bots that did not appear for a match; empty for a match that was played."""
    if result.reason is not EndReason.NO_SHOW:
        return set()
    present_bot = {"maxie": pairing.maxie, "minnie": pairing.minnie}.get(result.winner or "")
    return {pairing.maxie, pairing.minnie} - {present_bot}
