"""Audit of finished matches for results, resignations and play that are unlikely to be chance. Pure.

Each check computes the probability that chance alone produces at least one case as extreme among all examined cases
(Bonferroni correction). So a large arena has no more false findings than a small one. A finding proves nothing; it is a
reason to look closer.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import combinations
from math import comb, exp, floor, lgamma, log
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from arena.protocol.codes import EndReason
from arena.protocol.record import Record
from arena.rating.elo import PairTally, expected_score
from arena.rating.standings import is_void, is_walkover, list_losers

MAX_CHANCE = 0.01
"""Significance level: a case is a finding if chance produces it in fewer than this share of audits."""
MIN_MATCHES = 6
"""Minimum number of matches between two bots for a check of their results."""
MIN_PLIES = 20
"""Minimum number of moves after the opening for a match to be compared: shorter matches can be alike by chance."""
MIN_COPIES = 2

BotPair = tuple[str, str]


class Finding(Struct, frozen=True):
    """Suspicious fact about the matches of two bots. The values of `check` are:

    result       the results of the two against each other do not fit their results against all others
    resignation  `bot` resigns against `opponent` much more often than against all others
    identical    both bots played several matches with exactly the same moves, against the same opponents
    address      the bots have different owners, but played from the same address
    """

    check: Literal["result", "resignation", "identical", "address"]
    game: str
    """Name of the game; empty for `address`, which covers all games."""
    bot: str
    opponent: str
    """Opponent of the bot; for `identical` the bot that plays identically."""
    matches: int
    """Number of matches examined; for `address`, the number of matches between the two bots."""
    detail: str
    chance: float | None
    """Upper bound of the probability that chance alone produces a case as extreme; None if it cannot be computed."""


class _AuditedMatch(NamedTuple):
    maxie: str
    minnie: str
    digest: bytes
    """Digest of the setup and the moves; empty if the match has fewer than MIN_PLIES moves after its opening."""


class Audit:
    """Counter of matches that reports suspicious cases."""

    def __init__(self) -> None:
        self._tallies: defaultdict[str, defaultdict[BotPair, Counter[str]]] = defaultdict(
            lambda: defaultdict(Counter)
        )
        """Counts of `won`, `drawn` and `lost` for the first bot of a pair against the second, by game and pair.

        The two names in a pair are in alphabetical order.
        """
        self._losses: defaultdict[str, Counter[BotPair]] = defaultdict(Counter)
        """Number of losses, by game and by (loser, winner)."""
        self._resigned: defaultdict[str, Counter[BotPair]] = defaultdict(Counter)
        """Number of losses by resignation, by game and by (loser, winner)."""
        self._logs: defaultdict[str, list[_AuditedMatch]] = defaultdict(list)
        self._days: dict[BotPair, list[str]] = {}

    def add_address(self, bot: str, opponent: str, days: list[str]) -> None:
        """Add two bots of different owners, and the days on which they played from the same address."""
        self._days[min(bot, opponent), max(bot, opponent)] = days

    def add_match(self, record: Record, *, rated: bool) -> None:
        """Count a finished match: the moves always, the result only if the match is `rated`."""
        if is_void(record) or is_walkover(record):
            return
        maxie, minnie = record.players.maxie, record.players.minnie
        moves = [move.move for move in record.moves]
        digest = b""
        if sum(not move.opening for move in record.moves) >= MIN_PLIES:
            digest = sha256(msgspec.json.encode([record.setup, moves], order="deterministic")).digest()[:16]
        self._logs[record.game].append(_AuditedMatch(maxie, minnie, digest))
        if not rated:
            return
        first, second = pair = (min(maxie, minnie), max(maxie, minnie))
        losing_bots = list_losers(record)
        self._tallies[record.game][pair][
            "drawn" if not losing_bots else "won" if second in losing_bots else "lost"
        ] += 1
        for loser in losing_bots:
            against = loser, first if loser == second else second
            self._losses[record.game][against] += 1
            self._resigned[record.game][against] += record.result.reason is EndReason.RESIGNATION

    def list_findings(
        self, same_owner: Callable[[str, str], bool] = lambda _one, _other: False
    ) -> list[Finding]:
        """Return the suspicious cases, the least likely first.

        same_owner  returns True if two bots have the same owner; such bots are not compared for identical play
        """
        all_findings = [
            *self._find_unlikely_results(),
            *self._find_unlikely_resignations(),
            *self._find_identical_play(same_owner),
            *self._find_same_address(),
        ]
        return sorted(
            all_findings, key=lambda each: (each.chance is None, each.chance or -each.matches, each.game)
        )

    def _find_unlikely_results(self) -> Iterator[Finding]:
        """Yield pairs of bots whose results against each other do not fit their results against all others."""
        from arena.rating.bradley_terry import fit_elo_ratings  # noqa: PLC0415  NumPy takes a tenth of a second to load

        tallies = {
            game: {pair: PairTally(n["won"], n["drawn"], n["lost"]) for pair, n in pairs.items()}
            for game, pairs in sorted(self._tallies.items())
        }
        tested = sum(tally.games >= MIN_MATCHES for pairs in tallies.values() for tally in pairs.values())
        for game, pairs in tallies.items():
            bots = sorted({bot for pair in pairs for bot in pair})
            ratings = fit_elo_ratings(bots, pairs)
            for (bot, opponent), tally in sorted(pairs.items()):
                n, scored = tally.games, tally.wins + tally.draws / 2
                difference = ratings[bot].elo - ratings[opponent].elo
                # `ratings` include these matches, so they fit them better than ratings without them would.
                # Results that are likely by `ratings` need no closer test.
                if (
                    n < MIN_MATCHES
                    or 2 * _compute_score_tail(n, scored, difference, 0.0) * tested >= MAX_CHANCE
                ):
                    continue
                others = fit_elo_ratings(
                    bots, {pair: each for pair, each in pairs.items() if pair != (bot, opponent)}
                )
                difference = others[bot].elo - others[opponent].elo
                error = (others[bot].error ** 2 + others[opponent].error ** 2) ** 0.5
                chance = min(1.0, 2 * _compute_score_tail(n, scored, difference, error) * tested)
                if chance < MAX_CHANCE:
                    detail = f"{scored:g} of {n} points, {n * expected_score(difference):.1f} expected"
                    yield Finding("result", game, bot, opponent, n, detail, chance)

    def _find_unlikely_resignations(self) -> Iterator[Finding]:
        """Yield bots that resign against one opponent much more often than against all others."""
        tested = sum(map(len, self._losses.values()))
        for game, losses in sorted(self._losses.items()):
            resigned = self._resigned[game]
            all_losses, all_resigned = Counter[str](), Counter[str]()
            for pair, count in losses.items():
                all_losses[pair[0]] += count
                all_resigned[pair[0]] += resigned[pair]
            for (bot, opponent), n in sorted(losses.items()):
                total, marked, k = all_losses[bot], all_resigned[bot], resigned[bot, opponent]
                chance = min(1.0, compute_hypergeometric_tail(total, marked, n, k) * tested)
                if chance < MAX_CHANCE:
                    others_text = f"{marked - k} of {total - n} to all others"
                    detail = f"{k} of {n} losses by resignation, {others_text}"
                    yield Finding("resignation", game, bot, opponent, n, detail, chance)

    def _find_identical_play(self, same_owner: Callable[[str, str], bool]) -> Iterator[Finding]:
        """Yield pairs of bots that played several matches with exactly the same moves, against the same opponents."""
        for game, logs in sorted(self._logs.items()):
            alike: defaultdict[tuple[bytes, str, str], set[str]] = defaultdict(set)
            matches = Counter[str]()
            for each in logs:
                matches[each.maxie] += 1
                matches[each.minnie] += 1
                if each.digest:
                    alike[each.digest, "maxie", each.minnie].add(each.maxie)
                    alike[each.digest, "minnie", each.maxie].add(each.minnie)
            copies = Counter(
                pair
                for bots in alike.values()
                for pair in combinations(sorted(bots), 2)
                if not same_owner(*pair)
            )
            for (bot, opponent), count in sorted(copies.items()):
                if count >= MIN_COPIES:
                    detail = f"{count} matches move by move alike, against the same opponents"
                    yield Finding(
                        "identical", game, bot, opponent, min(matches[bot], matches[opponent]), detail, None
                    )

    def _find_same_address(self) -> Iterator[Finding]:
        """Yield pairs of bots that played from the same address, if both played in the examined matches."""
        all_matches = [each for logs in self._logs.values() for each in logs]
        bots = {name for match in all_matches for name in (match.maxie, match.minnie)}
        met = Counter(
            (min(match.maxie, match.minnie), max(match.maxie, match.minnie)) for match in all_matches
        )
        for (bot, opponent), days in sorted(self._days.items()):
            if bot in bots and opponent in bots:
                before = len(days) - 1
                more = f" and {before} day{'s' if before > 1 else ''} before it" if before else ""
                detail = f"played from the same address on {days[-1]}{more}"
                yield Finding("address", "", bot, opponent, met[bot, opponent], detail, None)


def _compute_score_tail(n: int, scored: float, difference: float, error: float) -> float:
    """Return the probability of a score at least as extreme as `scored`: as far from the expected one, on the same side.

    n           number of matches
    scored      points scored in them
    difference  rating difference that gives the expected score, in Elo points
    error       half the width of the 95 % interval of `difference`

    The result is conservative: if anything, too large. The rating difference is assumed to be the one within
    the 95 % interval that explains the score best, and a draw counts as half a win.
    """
    above = scored > n * expected_score(difference)
    slack = error if above else -error
    p = expected_score(difference + slack)
    if above == (scored <= n * p):
        return 1.0
    return (
        compute_binomial_tail(n, p, floor(scored))
        if above
        else compute_binomial_tail(n, 1 - p, floor(n - scored))
    )


def compute_binomial_tail(n: int, p: float, k: int) -> float:
    """Return the probability of at least `k` successes in `n` independent trials that each succeed with probability `p`."""
    if k <= 0:
        return 1.0
    if not 0 < p < 1:
        return float(p >= 1)

    def term(i: int) -> float:
        return exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) + i * log(p) + (n - i) * log(1 - p))

    return min(1.0, sum(term(i) for i in range(k, n + 1)))


def compute_hypergeometric_tail(total: int, marked: int, drawn: int, k: int) -> float:
    """Return the probability that at least `k` of `drawn` items are marked (Fisher's exact test).

    The items are drawn at random from `total`, of which `marked` are marked.
    """
    max_marked = min(drawn, marked)
    if k <= 0:
        return 1.0
    ways = sum(comb(marked, i) * comb(total - marked, drawn - i) for i in range(k, max_marked + 1))
    return ways / comb(total, drawn)
