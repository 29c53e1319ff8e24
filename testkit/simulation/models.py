"""Reference implementations of bots' suspensions, pairing, ratings and rating tables: slow, but simple enough to be trusted."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import exp, isclose, log, pi, sqrt
from typing import TYPE_CHECKING

from arena.protocol.codes import FORFEIT_REASONS, EndReason
from arena.protocol.record import Record

if TYPE_CHECKING:
    from testkit.simulation.invariants import InvariantMonitor

FIRST_SUSPENSION_NS = 30_000_000_000
"""Length of a bot's first suspension for consecutive forfeits, in ns."""
MAX_SUSPENSION_NS = 1_800_000_000_000
"""Maximum length of a bot's suspension for consecutive forfeits, in ns."""
MAX_UNPAIRED_NS = 1_000_000_000
"""Maximum waiting time, in ns, of two free bots that may play each other: at least one of them must get a match in this time.

The real matchmaker needs 20 ms.
"""
SEATS = ("maxie", "minnie")
COUNT_COLUMNS = ("wins", "draws", "losses", "forfeits")
"""Columns of a rating table that count matches."""
COMPARED_COLUMNS = (*COUNT_COLUMNS, "rating", "deviation", "volatility")
"""Columns of a rating table that the model compares with the store."""
NEW_MATCHES_QUERY = "SELECT match, finished, arrival FROM matches WHERE finished IS NOT NULL AND counted AND arrival > ? ORDER BY arrival"
NEW_BOT_PHI = 350 / 173.7178
"""Rating deviation of a new bot, on the internal scale of Glicko-2: 350 points divided by 173.7178."""


class SuspensionModel:
    """Independent model of the suspensions of bots for consecutive forfeits.

    The third forfeit suspends a bot for FIRST_SUSPENSION_NS. Each further forfeit doubles the length of the suspension, up to
    MAX_SUSPENSION_NS.
    """

    def __init__(self) -> None:
        self._forfeits: dict[str, list[str]] = {}
        self._suspended_until: dict[str, int] = {}

    def record_result(self, record: Record, now_ns: int) -> None:
        """Record a match that ended at time `now_ns`, in ns, and suspend a player that has forfeited too often in a row.

        A resignation with fewer than six moves played counts as a forfeit. For a player that did not forfeit, the count of
        consecutive forfeits is set to 0, and any suspension ends.
        """
        result = record.result
        for seat, name in (("maxie", record.players.maxie), ("minnie", record.players.minnie)):
            early = result.reason is EndReason.RESIGNATION and len(record.moves) < 6
            if result.winner == seat or not (early or result.reason in FORFEIT_REASONS):
                self._forfeits[name] = []
                self._suspended_until.pop(name, None)
                continue
            self._forfeits.setdefault(name, []).append(result.reason.value)
            further_forfeits = len(self._forfeits[name]) - 3
            if further_forfeits >= 0:
                self._suspended_until[name] = now_ns + min(
                    MAX_SUSPENSION_NS, FIRST_SUSPENSION_NS * 2**further_forfeits
                )

    def end_suspension(self, bot_name: str) -> None:
        """End the suspension of a bot that starts a new session. The bot's forfeits still count."""
        self._suspended_until.pop(bot_name, None)

    def find_suspension_reason(self, bot_name: str, now_ns: int) -> str:
        """Return the end reasons of the forfeits for which a bot is suspended, as one text; empty if it is not suspended."""
        return ", ".join(self._forfeits[bot_name]) if now_ns < self._suspended_until.get(bot_name, 0) else ""


class PairingModel:
    """Reference model of the pairing of one core's free bots. Two bots may play each other unless they have the same owner.

    All bots play the same game, and the pool of a simulated arena needs no pause between two matches of the same bots.
    """

    def __init__(self) -> None:
        self._free_since: dict[str, int] = {}

    def record_match_start(self, bot_name: str) -> None:
        """Record that a bot got a match. If the bot is still free for another match, its waiting time starts again at 0."""
        self._free_since.pop(bot_name, None)

    def find_unpaired_bots(self, owner_by_bot: Mapping[str, str], now_ns: int) -> list[str]:
        """Return the free bots that have waited longer than MAX_UNPAIRED_NS. If no two of these bots may play each other,
        return none.

        owner_by_bot: owner of each bot that is free at time `now_ns`, in ns
        """
        self._free_since = {name: self._free_since.get(name, now_ns) for name in owner_by_bot}
        unpaired = [
            name for name, free_since in self._free_since.items() if now_ns - free_since > MAX_UNPAIRED_NS
        ]
        return unpaired if len({owner_by_bot[name] for name in unpaired}) > 1 else []


@dataclass
class RatingTableRow:
    """Row of a bot in a rating table.

    `mu`, `phi` and `sigma` are rating, rating deviation and volatility on the internal scale of Glicko-2. `last_match_time` is
    the time at which the bot's last rated match ended; None if the bot has played no rated match.
    """

    mu: float = 0.0
    phi: float = NEW_BOT_PHI
    sigma: float = 0.06
    counts: Counter[str] = field(default_factory=Counter)
    last_match_time: datetime | None = None


class RatingTableModel:
    """Rating tables, computed from the records of the counted matches as docs/ratings.md specifies."""

    def __init__(self, monitor: InvariantMonitor, connection: sqlite3.Connection) -> None:
        self._monitor = monitor
        self._connection = connection
        self._rows: dict[str, RatingTableRow] = {}
        self._record_keys: set[tuple[object, ...]] = set()
        self._counted_match_count = 0
        self._last_arrival = 0
        self._season = 1

    def compare_new_matches(self) -> None:
        """Compare the rating rows of the bots that played since the last call with their rows in the store.

        Before the comparison, rate in this model the matches that the store has rated since that call. Raises
        InvariantViolated if a row differs.
        """
        rows = self._connection.execute(NEW_MATCHES_QUERY, (self._last_arrival,)).fetchall()
        finished_matches = self._monitor.finished_matches[self._counted_match_count :][: len(rows)]
        for match, (name, finished, self._last_arrival) in zip(finished_matches, rows, strict=True):
            record = match.record
            assert record is not None
            self._monitor.require(
                record.match == name,
                f"match {name:.8} was counted before {record.match:.8}, which ended earlier",
            )
            if match.terms.rated:
                self._rate_match(record, datetime.fromisoformat(finished))
        self._counted_match_count += len(rows)
        for match in finished_matches:
            assert match.record is not None
            for name in (match.record.players.maxie, match.record.players.minnie):
                self._compare_row(name)

    def close_season(self) -> None:
        """Compare all rows of the season that the servers have just closed with the store, and begin the next season.

        Raises InvariantViolated if a row differs.
        """
        self.compare_all_rows()
        self._season += 1
        self._rows.clear()

    def compare_all_rows(self) -> None:
        """Compare the rows of all bots with the store. Raises InvariantViolated if a row or a counted match differs."""
        self.compare_new_matches()
        finished_count = len(self._monitor.finished_matches)
        self._monitor.require(
            self._counted_match_count == finished_count,
            f"only {self._counted_match_count} of {finished_count} finished matches were counted",
        )
        [(row_count,)] = self._connection.execute(
            "SELECT COUNT(*) FROM standings WHERE time_control = '' AND season = ?", (self._season,)
        )
        self._monitor.require(
            row_count == len(self._rows), f"the table has {row_count} bots, but {len(self._rows)} have played"
        )
        for name in self._rows:
            self._compare_row(name)

    def _compare_row(self, bot_name: str) -> None:
        if bot_name not in self._rows:
            return
        model_row = self._rows[bot_name]
        stored_row = self._connection.execute(
            f"SELECT {', '.join(COMPARED_COLUMNS)} FROM standings WHERE time_control = '' AND season = ? AND bot = ?",
            (self._season, bot_name),
        ).fetchone()
        rating = (1500 + 173.7178 * model_row.mu, 173.7178 * model_row.phi, model_row.sigma)
        expected = (*(model_row.counts[column] for column in COUNT_COLUMNS), *rating)
        is_equal = stored_row is not None and all(
            isclose(*pair, rel_tol=1e-5) for pair in zip(stored_row, expected, strict=True)
        )
        self._monitor.require(
            is_equal,
            f"{bot_name} has {stored_row} in the table, but {expected} by its records ({', '.join(COMPARED_COLUMNS)})",
        )

    def _rate_match(self, record: Record, end_time: datetime) -> None:
        result, players = record.result, (record.players.maxie, record.players.minnie)
        key = (*players, str([move.move for move in record.moves]), result.winner, result.reason)
        if key in self._record_keys:
            return  # a match that repeats another counts for nobody
        self._record_keys.add(key)
        rows = [self._rows.setdefault(name, RatingTableRow()) for name in players]
        days = [
            max(0.0, (end_time - (row.last_match_time or end_time)).total_seconds() / 86_400) for row in rows
        ]
        earlier_ratings = [
            (row.mu, compute_deviation_after_idle_days(row, idle_days))
            for row, idle_days in zip(rows, days, strict=True)
        ]
        both_absent = result.reason in (EndReason.NO_SHOW, EndReason.DISCONNECT) and result.winner is None
        for row, seat, idle_days, own_rating, opponent_rating in zip(
            rows, SEATS, days, earlier_ratings, reversed(earlier_ratings), strict=True
        ):
            row.last_match_time = end_time
            if both_absent or result.reason is EndReason.SERVER_FAULT:
                row.counts["forfeits"] += both_absent
                row.phi = own_rating[1]
                continue
            score = 0.5 if result.winner is None else float(result.winner == seat)
            row.counts[{1.0: "wins", 0.5: "draws", 0.0: "losses"}[score]] += 1
            row.counts["forfeits"] += score == 0 and result.reason in FORFEIT_REASONS
            rate_match(row, idle_days, score, *opponent_rating)


def compute_deviation_after_idle_days(row: RatingTableRow, days: float) -> float:
    """Return the rating deviation of a bot after `days` without a match, on Glicko-2's scale and at most NEW_BOT_PHI."""
    return min(sqrt(row.phi**2 + days * row.sigma**2), NEW_BOT_PHI)


def rate_match(row: RatingTableRow, days: float, score: float, mu_j: float, phi_j: float) -> None:
    """Update the row of a bot by one rated match, with the steps of Glickman's paper on Glicko-2.

    The volatility is found by bisection.

    row: row of the rated bot, which is changed
    days: days since the bot's last match
    score: 1 for a win, 0.5 for a draw, 0 for a loss
    mu_j, phi_j: opponent's rating and deviation before the match
    """
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
    row.phi = 1 / sqrt(1 / compute_deviation_after_idle_days(row, days) ** 2 + 1 / v)
    row.mu += row.phi**2 * g * (score - e)
