"""Audit of finished matches for results, resignations and play that are unlikely to be chance.

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
from msgspec import Struct, field

from arena.protocol.codes import EndReason
from arena.protocol.record import Record
from arena.rating.elo import WinDrawLoss, compute_expected_score
from arena.rating.standings import is_void, is_walkover, list_losers

SIGNIFICANCE_LEVEL = 0.01
"""Significance level: a case is reported if chance alone would produce a case as extreme in less than this share of audits."""
MIN_MATCHES_BETWEEN_BOTS = 6
"""Minimum number of matches between two bots for a check of their results."""
MIN_MOVES_TO_COMPARE = 20
"""Minimum number of moves after the opening for comparing two matches. Shorter ones can be identical by chance."""
MIN_IDENTICAL_MATCHES_TO_REPORT = 2
"""Minimum number of matches that two bots play alike (same opponent, all moves the same), for reporting both bots."""

BotPair = tuple[str, str]


class AuditFinding(Struct, frozen=True):
    """Suspicious fact about the matches of two bots. Values of `check`:

    result       the two bots' results against each other do not fit their results against all others
    resignation  `bot` resigns against `opponent` much more often than against all others
    identical    both bots played several matches with exactly the same moves, against the same opponents
    address      the bots have different owners, but played from the same address
    """

    check: Literal["result", "resignation", "identical", "address"]
    game: str
    """Name of the game; empty for `address`, which covers all games."""
    bot: str
    opponent: str
    """Other bot of the finding: the opponent, the bot that plays identically, or the bot with the same address."""
    sample_size: int = field(name="matches")
    """Sample size: number of matches between both bots.

    For `resignation`, losses of `bot` against `opponent`. For `identical`, matches of the bot that has fewer.
    """
    detail: str
    """Numbers on which the finding is based, in one line for people."""
    chance: float | None
    """Upper bound of the probability that chance alone produces such a finding; None if it cannot be computed."""


class _AuditedMatch(NamedTuple):
    """Match as compared with other matches for identical play: its bots, and a hash of its moves."""

    maxie: str
    minnie: str
    moves_digest: bytes
    """Hash of the setup and the moves; empty if the match has fewer than MIN_MOVES_TO_COMPARE moves after its opening."""


class Audit:
    """Audit of a set of matches. Add all matches, then call `list_findings`."""

    def __init__(self) -> None:
        self._tallies: defaultdict[str, defaultdict[BotPair, Counter[str]]] = defaultdict(
            lambda: defaultdict(Counter)
        )
        """Numbers of matches that the first bot of a pair won, drew and lost, by game, then by pair in alphabetical order.

        The keys of the numbers are `won`, `drawn` and `lost`.
        """
        self._losses: defaultdict[str, Counter[BotPair]] = defaultdict(Counter)
        """Number of losses, by game and by (loser, winner)."""
        self._resignations: defaultdict[str, Counter[BotPair]] = defaultdict(Counter)
        """Number of losses by resignation, by game and by (loser, winner)."""
        self._audited_matches: defaultdict[str, list[_AuditedMatch]] = defaultdict(list)
        """All matches of the audit, by game."""
        self._shared_days: dict[BotPair, list[str]] = {}
        """Days on which both bots of a pair played from the same address, by pair in alphabetical order."""

    def add_shared_address(self, bot: str, other_bot: str, dates: list[str]) -> None:
        """Record that two bots of different owners played from the same address on `dates` (ISO 8601 dates, in order)."""
        self._shared_days[min(bot, other_bot), max(bot, other_bot)] = dates

    def add_match(self, record: Record, *, is_rated: bool) -> None:
        """Add a finished match to the audit. A void match, or a match for which a bot did not appear, is ignored.

        Of an unrated match, the audit checks only the moves, not the result.
        """
        if is_void(record) or is_walkover(record):
            return
        maxie, minnie = record.players.maxie, record.players.minnie
        moves = [move.move for move in record.moves]
        moves_digest = b""
        if sum(not move.opening for move in record.moves) >= MIN_MOVES_TO_COMPARE:
            moves_digest = sha256(msgspec.json.encode([record.setup, moves], order="deterministic")).digest()[
                :16
            ]
        self._audited_matches[record.game].append(_AuditedMatch(maxie, minnie, moves_digest))
        if not is_rated:
            return
        bot_a, bot_b = pair = (min(maxie, minnie), max(maxie, minnie))
        losing_bots = list_losers(record)
        self._tallies[record.game][pair][
            "drawn" if not losing_bots else "won" if bot_b in losing_bots else "lost"
        ] += 1
        for loser in losing_bots:
            loser_and_winner = loser, bot_a if loser == bot_b else bot_b
            self._losses[record.game][loser_and_winner] += 1
            self._resignations[record.game][loser_and_winner] += record.result.reason is EndReason.RESIGNATION

    def list_findings(
        self, have_same_owner: Callable[[str, str], bool] = lambda _one, _other: False
    ) -> list[AuditFinding]:
        """Return the suspicious cases, the least likely to arise by chance first, and cases without a probability last.

        have_same_owner  returns True if two bots have the same owner; identical play of such bots is not reported
        """
        all_findings = [
            *self._find_unlikely_results(),
            *self._find_unlikely_resignations(),
            *self._find_identical_play(have_same_owner),
            *self._find_shared_addresses(),
        ]
        return sorted(
            all_findings,
            key=lambda finding: (
                finding.chance is None,
                finding.chance or -finding.sample_size,
                finding.game,
            ),
        )

    def _find_unlikely_results(self) -> Iterator[AuditFinding]:
        """Yield pairs of bots whose results against each other do not fit their results against all others."""
        from arena.rating.bradley_terry import fit_elo_ratings  # noqa: PLC0415  NumPy takes a tenth of a second to load

        tallies = {
            game: {pair: WinDrawLoss(n["won"], n["drawn"], n["lost"]) for pair, n in pairs.items()}
            for game, pairs in sorted(self._tallies.items())
        }
        tested_pair_count = sum(
            tally.match_count >= MIN_MATCHES_BETWEEN_BOTS
            for pairs in tallies.values()
            for tally in pairs.values()
        )
        for game, pairs in tallies.items():
            bots = sorted({bot for pair in pairs for bot in pair})
            ratings = fit_elo_ratings(bots, pairs)
            for (bot, opponent), tally in sorted(pairs.items()):
                n, points = tally.match_count, tally.wins + tally.draws / 2
                difference = ratings[bot].elo - ratings[opponent].elo
                # `ratings` are fitted also to the results of these two bots, so they make these results look likelier
                # than ratings from all other results do. If the results are likely even so, no second fit is needed.
                if (
                    n < MIN_MATCHES_BETWEEN_BOTS
                    or 2 * _compute_score_tail_probability(n, points, difference, 0.0) * tested_pair_count
                    >= SIGNIFICANCE_LEVEL
                ):
                    continue
                other_ratings = fit_elo_ratings(
                    bots, {pair: other_pair for pair, other_pair in pairs.items() if pair != (bot, opponent)}
                )
                difference = other_ratings[bot].elo - other_ratings[opponent].elo
                error = (other_ratings[bot].elo_error ** 2 + other_ratings[opponent].elo_error ** 2) ** 0.5
                chance = min(
                    1.0, 2 * _compute_score_tail_probability(n, points, difference, error) * tested_pair_count
                )
                if chance < SIGNIFICANCE_LEVEL:
                    detail = (
                        f"{points:g} of {n} points, {n * compute_expected_score(difference):.1f} expected"
                    )
                    yield AuditFinding("result", game, bot, opponent, n, detail, chance)

    def _find_unlikely_resignations(self) -> Iterator[AuditFinding]:
        """Yield bots that resign against one opponent much more often than against all others."""
        tested_pair_count = sum(map(len, self._losses.values()))
        for game, losses in sorted(self._losses.items()):
            resignations = self._resignations[game]
            losses_by_bot, resignations_by_bot = Counter[str](), Counter[str]()
            for pair, count in losses.items():
                losses_by_bot[pair[0]] += count
                resignations_by_bot[pair[0]] += resignations[pair]
            for (bot, opponent), n in sorted(losses.items()):
                total, marked, k = losses_by_bot[bot], resignations_by_bot[bot], resignations[bot, opponent]
                chance = min(
                    1.0, compute_hypergeometric_tail_probability(total, marked, n, k) * tested_pair_count
                )
                if chance < SIGNIFICANCE_LEVEL:
                    others_text = f"{marked - k} of {total - n} to all others"
                    detail = f"{k} of {n} losses by resignation, {others_text}"
                    yield AuditFinding("resignation", game, bot, opponent, n, detail, chance)

    def _find_identical_play(self, have_same_owner: Callable[[str, str], bool]) -> Iterator[AuditFinding]:
        """Yield pairs of bots that played several matches with exactly the same moves, against the same opponents."""
        for game, audited_matches in sorted(self._audited_matches.items()):
            bots_by_play: defaultdict[tuple[bytes, str, str], set[str]] = defaultdict(set)
            matches = Counter[str]()
            for match in audited_matches:
                matches[match.maxie] += 1
                matches[match.minnie] += 1
                if match.moves_digest:
                    bots_by_play[match.moves_digest, "maxie", match.minnie].add(match.maxie)
                    bots_by_play[match.moves_digest, "minnie", match.maxie].add(match.minnie)
            identical_match_counts = Counter(
                pair
                for bots in bots_by_play.values()
                for pair in combinations(sorted(bots), 2)
                if not have_same_owner(*pair)
            )
            for (bot, opponent), count in sorted(identical_match_counts.items()):
                if count >= MIN_IDENTICAL_MATCHES_TO_REPORT:
                    detail = f"{count} matches move by move alike, against the same opponents"
                    yield AuditFinding(
                        "identical", game, bot, opponent, min(matches[bot], matches[opponent]), detail, None
                    )

    def _find_shared_addresses(self) -> Iterator[AuditFinding]:
        """Yield the pairs of bots that `add_shared_address` recorded, if both bots played in the examined matches."""
        all_matches = [match for logs in self._audited_matches.values() for match in logs]
        bots = {name for match in all_matches for name in (match.maxie, match.minnie)}
        match_counts = Counter(
            (min(match.maxie, match.minnie), max(match.maxie, match.minnie)) for match in all_matches
        )
        for (bot, opponent), days in sorted(self._shared_days.items()):
            if bot in bots and opponent in bots:
                earlier_day_count = len(days) - 1
                earlier_days_text = (
                    f" and {earlier_day_count} day{'s' if earlier_day_count > 1 else ''} before it"
                    if earlier_day_count
                    else ""
                )
                detail = f"played from the same address on {days[-1]}{earlier_days_text}"
                yield AuditFinding("address", "", bot, opponent, match_counts[bot, opponent], detail, None)


def _compute_score_tail_probability(
    match_count: int, points: float, rating_difference: float, rating_error: float
) -> float:
    """Return the probability of a score at least as far from the expected score as `points`, on the same side of it.

    match_count        number of matches
    points             points scored in the matches
    rating_difference  rating difference that gives the expected score, in Elo points
    rating_error       half the width of the 95 % interval of `rating_difference`

    The result is conservative: if anything, too large. The rating difference is assumed to be the one within
    the 95 % interval that explains the score best, and a draw counts as half a win.
    """
    is_above_expected = points > match_count * compute_expected_score(rating_difference)
    shift = rating_error if is_above_expected else -rating_error
    p = compute_expected_score(rating_difference + shift)
    if is_above_expected == (points <= match_count * p):
        return 1.0
    return (
        compute_binomial_tail_probability(match_count, p, floor(points))
        if is_above_expected
        else compute_binomial_tail_probability(match_count, 1 - p, floor(match_count - points))
    )


def compute_binomial_tail_probability(n: int, p: float, k: int) -> float:
    """Return the probability of at least `k` successes in `n` independent trials that each succeed with probability `p`."""
    if k <= 0:
        return 1.0
    if not 0 < p < 1:
        return float(p >= 1)

    def compute_term(i: int) -> float:
        return exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) + i * log(p) + (n - i) * log(1 - p))

    return min(1.0, sum(compute_term(i) for i in range(k, n + 1)))


def compute_hypergeometric_tail_probability(
    item_count: int, marked_count: int, drawn_count: int, k: int
) -> float:
    """Return the probability that at least `k` of `drawn_count` items are marked (Fisher's exact test).

    The items are drawn at random from `item_count`, of which `marked_count` are marked.
    """
    max_marked = min(drawn_count, marked_count)
    if k <= 0:
        return 1.0
    way_count = sum(
        comb(marked_count, i) * comb(item_count - marked_count, drawn_count - i)
        for i in range(k, max_marked + 1)
    )
    return way_count / comb(item_count, drawn_count)
