"""Reference implementations of suspensions, ratings and tables, slow but obviously right."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from math import exp, isclose, log, pi, sqrt
from typing import TYPE_CHECKING

from arena.protocol.codes import FORFEITS, EndReason
from arena.protocol.record import Record

if TYPE_CHECKING:
    from testkit.simulation.invariants import InvariantMonitor

FIRST_NS = 30_000_000_000
MAX_NS = 1_800_000_000_000
SEATS = ("maxie", "minnie")
COUNTS = ("wins", "draws", "losses", "forfeits")
COLUMNS = (*COUNTS, "rating", "deviation", "volatility")
NEWLY_COUNTED = "SELECT match, finished, arrival FROM matches WHERE finished IS NOT NULL AND counted AND arrival > ? ORDER BY arrival"
NEW_PHI = 350 / 173.7178
"""Rating deviation of a new bot, on the scale of Glicko-2."""


class SuspensionModel:
    """Consecutive forfeits of each bot: three suspend it, and each further one suspends it for twice as long."""

    def __init__(self) -> None:
        self._forfeits: dict[str, list[str]] = {}
        self._suspended_until: dict[str, int] = {}

    def record_result(self, record: Record, now: int) -> None:
        """Record the end of a match."""
        result = record.result
        for seat, name in (("maxie", record.players.maxie), ("minnie", record.players.minnie)):
            early = result.reason is EndReason.RESIGNATION and len(record.moves) < 6
            if result.winner == seat or not (early or result.reason in FORFEITS):
                self._forfeits[name] = []
                self._suspended_until.pop(name, None)
                continue
            self._forfeits.setdefault(name, []).append(result.reason.value)
            more = len(self._forfeits[name]) - 3
            if more >= 0:
                self._suspended_until[name] = now + min(MAX_NS, FIRST_NS * 2**more)

    def pardon(self, name: str) -> None:
        """Pardon a bot that starts a new session."""
        self._suspended_until.pop(name, None)

    def suspension_reason(self, name: str, now: int) -> str:
        """Return the reason for a bot's suspension; empty if it is not suspended."""
        return ", ".join(self._forfeits[name]) if now < self._suspended_until.get(name, 0) else ""


@dataclass
class TableRow:
    """Row of a bot in a table of ratings."""

    mu: float = 0.0
    phi: float = NEW_PHI
    sigma: float = 0.06
    counts: Counter[str] = field(default_factory=Counter)
    last: datetime | None = None


class TableModel:
    """Ratings and tables, computed from the records of the counted matches as docs/ratings.md specifies."""

    def __init__(self, monitor: InvariantMonitor, connection: sqlite3.Connection) -> None:
        self._monitor = monitor
        self._connection = connection
        self._rows: dict[str, TableRow] = {}
        self._record_keys: set[tuple[object, ...]] = set()
        self._counted = 0
        self._arrival = 0
        self._season = 1

    def compare_new_matches(self) -> None:
        """Count the matches that the store has counted since the last call.

        Compare the rows of their bots with the store's.
        """
        rows = self._connection.execute(NEWLY_COUNTED, (self._arrival,)).fetchall()
        order = self._monitor.finished[self._counted :][: len(rows)]
        for match, (name, finished, self._arrival) in zip(order, rows, strict=True):
            record = match.record
            assert record is not None
            self._monitor.require_true(
                record.match == name,
                f"match {name:.8} was counted before {record.match:.8}, which ended earlier",
            )
            if match.terms.rated:
                self._count_match(record, datetime.fromisoformat(finished))
        self._counted += len(rows)
        for match in order:
            assert match.record is not None
            for name in (match.record.players.maxie, match.record.players.minnie):
                self._compare_row(name)

    def close_season(self) -> None:
        """Compare the rows of a season that has just been closed, and begin the next one."""
        self.compare_all_rows()
        self._season += 1
        self._rows.clear()

    def compare_all_rows(self) -> None:
        """Compare all rows over all matches."""
        self.compare_new_matches()
        finished = len(self._monitor.finished)
        self._monitor.require_true(
            self._counted == finished, f"only {self._counted} of {finished} finished matches were counted"
        )
        [(lines,)] = self._connection.execute(
            "SELECT COUNT(*) FROM standings WHERE time_control = '' AND season = ?", (self._season,)
        )
        self._monitor.require_true(
            lines == len(self._rows), f"the table has {lines} bots, but {len(self._rows)} have played"
        )
        for name in self._rows:
            self._compare_row(name)

    def _compare_row(self, name: str) -> None:
        if name not in self._rows:
            return
        line = self._rows[name]
        row = self._connection.execute(
            f"SELECT {', '.join(COLUMNS)} FROM standings WHERE time_control = '' AND season = ? AND bot = ?",
            (self._season, name),
        ).fetchone()
        rated = (1500 + 173.7178 * line.mu, 173.7178 * line.phi, line.sigma)
        expected = (*(line.counts[each] for each in COUNTS), *rated)
        same = row is not None and all(
            isclose(*each, rel_tol=1e-5) for each in zip(row, expected, strict=True)
        )
        self._monitor.require_true(
            same, f"{name} has {row} in the table, but {expected} by its records ({', '.join(COLUMNS)})"
        )

    def _count_match(self, record: Record, end_time: datetime) -> None:
        result, two = record.result, (record.players.maxie, record.players.minnie)
        key = (*two, str([each.move for each in record.moves]), result.winner, result.reason)
        if key in self._record_keys:
            return  # one that repeats another counts for nobody
        self._record_keys.add(key)
        lines = [self._rows.setdefault(name, TableRow()) for name in two]
        days = [max(0.0, (end_time - (line.last or end_time)).total_seconds() / 86_400) for line in lines]
        before = [(line.mu, deviation_after(line, passed)) for line, passed in zip(lines, days, strict=True)]
        away = result.reason in (EndReason.NO_SHOW, EndReason.DISCONNECT) and result.winner is None
        for line, seat, passed, own, other in zip(lines, SEATS, days, before, reversed(before), strict=True):
            line.last = end_time
            if away or result.reason is EndReason.SERVER_FAULT:
                line.counts["forfeits"] += away
                line.phi = own[1]
                continue
            score = 0.5 if result.winner is None else float(result.winner == seat)
            line.counts[{1.0: "wins", 0.5: "draws", 0.0: "losses"}[score]] += 1
            line.counts["forfeits"] += score == 0 and result.reason in FORFEITS
            rate_match(line, passed, score, *other)


def deviation_after(row: TableRow, days: float) -> float:
    """Return the rating deviation of a bot after `days` days without a match."""
    return min(sqrt(row.phi**2 + days * row.sigma**2), NEW_PHI)


def rate_match(row: TableRow, days: float, score: float, mu_j: float, phi_j: float) -> None:
    """Rate one match by the steps of Glickman's paper on Glicko-2, with bisection for the volatility."""
    g = 1 / sqrt(1 + 3 * phi_j**2 / pi**2)
    e = 1 / (1 + exp(-g * (row.mu - mu_j)))
    v = 1 / (g**2 * e * (1 - e))
    delta = v * g * (score - e)
    a = log(row.sigma**2)

    def volatility_equation(x: float) -> float:
        spread = row.phi**2 + v + exp(x)
        return exp(x) * (delta**2 - spread) / (2 * spread**2) - (x - a) / 0.5**2

    low, high = a - 10, a + 10
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if volatility_equation(middle) > 0 else (low, middle)
    row.sigma = exp(low / 2)
    row.phi = 1 / sqrt(1 / deviation_after(row, days) ** 2 + 1 / v)
    row.mu += row.phi**2 * g * (score - e)
