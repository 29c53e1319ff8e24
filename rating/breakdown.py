"""Statistics of a ladder (local tournament): results by seat, by map and by opponent, first-move advantage, share of draws."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, field

from arena.protocol.record import Record
from arena.rating.pairing import Pairing
from arena.rating.pentanomial import PairScoreCounts, count_pair_scores, estimate_elo_difference
from arena.rating.standings import (
    COLUMN_NAME_BY_FIELD,
    compute_pair_scores,
    is_double_no_show,
    is_void,
    list_losers,
)

MAX_ACCEPTABLE_DRAWN_SHARE = 0.5
"""Share of drawn matches above which another map or game is recommended."""


class GroupScore(Struct, frozen=True, rename=COLUMN_NAME_BY_FIELD):
    """Results of a bot in a group of its matches: all in one seat, on one map, or against one opponent."""

    bot: str
    group: str = field(name="of")
    """Seat, map or opponent that the matches have in common."""
    wins: int
    draws: int
    losses: int

    @property
    def match_count(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        """Return the average score per match, from 0 to 1; ½ if there are no matches."""
        return (self.wins + self.draws / 2) / self.match_count if self.match_count else 0.5


class FirstMoveAdvantage(Struct, frozen=True):
    """Advantage of the player who moves first, Maxie, as measured by the results of all matches."""

    match_count: int = field(name="games")
    mean_score: float = field(name="score")
    """Average score of Maxie per match, from 0 to 1."""
    elo: float | None
    elo_error: float | None = field(name="error")
    """Half the width of the 95 % interval of `elo`; both `elo` and `elo_error` are None if there are no matches."""


class HeadToHead(Struct, frozen=True):
    """Results of one bot against another, by pair of matches: two matches from one start position, with swapped seats."""

    bot: str
    opponent: str
    pairs: PairScoreCounts
    """Numbers of pairs of matches in which the bot scored 0, ½, 1, 1½ and 2 points, in this order."""
    superiority: float | None
    """Likelihood, 0 to 1, that the bot is stronger than the opponent; None if no pair has both its matches."""


class ResultBreakdown(Struct, frozen=True):
    """Results of a ladder (local tournament) by seat, map and opponent, with the advantage of the first move.

    duels  results of every two bots against each other
    """

    by_seat: list[GroupScore]
    by_map: list[GroupScore]
    by_opponent: list[GroupScore]
    duels: list[HeadToHead]
    first_move: FirstMoveAdvantage


def make_result_breakdown(bots: Sequence[str], results: Sequence[tuple[Pairing, Record]]) -> ResultBreakdown:
    """Return the results of `bots` by seat, map and opponent.

    results  each match of the ladder: its pairing (the bots by seat) and its record

    Void matches, and matches for which neither bot appeared, do not count.
    """
    records = [record for _, record in results if not is_void(record) and not is_double_no_show(record)]
    return ResultBreakdown(
        by_seat=_count_group_scores(
            bots, records, lambda record, bot: "maxie" if record.players.maxie == bot else "minnie"
        ),
        by_map=_count_group_scores(bots, records, lambda record, _: get_map_or_game_name(record)),
        by_opponent=_count_group_scores(bots, records, _get_opponent),
        duels=_make_head_to_heads(bots, results),
        first_move=_measure_first_move_advantage(records),
    )


def get_map_or_game_name(record: Record) -> str:
    """Return the name of the map of a match, or of its game if the game has no maps."""
    return str(record.setup.get("map") or record.game)


def _get_opponent(record: Record, bot: str) -> str:
    return record.players.minnie if record.players.maxie == bot else record.players.maxie


def _count_group_scores(
    bots: Sequence[str], records: Iterable[Record], get_group: Callable[[Record, str], str]
) -> list[GroupScore]:
    counts: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for record in records:
        losing_bots = list_losers(record)
        for bot in (record.players.maxie, record.players.minnie):
            counts[bot, get_group(record, bot)][2 if bot in losing_bots else 0 if losing_bots else 1] += 1
    bot_indexes = {bot: index for index, bot in enumerate(bots)}
    sorted_bot_groups = sorted(
        counts, key=lambda key: (bot_indexes[key[0]], bot_indexes.get(key[1], 0), key[1])
    )
    return [GroupScore(bot, group, *counts[bot, group]) for bot, group in sorted_bot_groups]


def _make_head_to_heads(bots: Sequence[str], results: Sequence[tuple[Pairing, Record]]) -> list[HeadToHead]:
    meetings: defaultdict[frozenset[str], list[tuple[Pairing, Record]]] = defaultdict(list)
    for pairing, record in results:
        meetings[frozenset((pairing.maxie, pairing.minnie))].append((pairing, record))
    head_to_heads = []
    for i, bot in enumerate(bots):
        for opponent in bots[i + 1 :]:
            pair_counts = count_pair_scores(compute_pair_scores(bot, meetings[frozenset((bot, opponent))]))
            elo = estimate_elo_difference(pair_counts)
            head_to_heads.append(
                HeadToHead(bot, opponent, pair_counts, elo.superiority_likelihood if elo else None)
            )
    return head_to_heads


def _measure_first_move_advantage(records: Sequence[Record]) -> FirstMoveAdvantage:
    counts = [0, 0, 0]
    for record in records:
        counts[{"minnie": 0, None: 1, "maxie": 2}[record.result.winner]] += 1
    elo = estimate_elo_difference(counts)
    if elo is None:
        return FirstMoveAdvantage(0, 0.5, None, None)
    score = (counts[2] + counts[1] / 2) / sum(counts)
    return FirstMoveAdvantage(sum(counts), score, elo.elo, elo.elo_error)


class DrawCounts(Struct, frozen=True):
    """Number of matches, and number of drawn ones among them. Void matches do not count."""

    matches: int
    drawn: int
    repetition: int
    """Number of matches drawn by repetition of a position."""

    @property
    def drawn_share(self) -> float:
        """Return the fraction of matches that were drawn; 0 if there are no matches."""
        return self.drawn / self.matches if self.matches else 0.0

    @property
    def has_too_many_draws(self) -> bool:
        """Return True if the share of draws is above MAX_ACCEPTABLE_DRAWN_SHARE."""
        return self.drawn_share > MAX_ACCEPTABLE_DRAWN_SHARE


def count_draws(records: Iterable[Record]) -> DrawCounts:
    """Count the matches and the draws among the records.

    Void matches do not count. A match that both players lost is not a draw.
    """
    valid_records = [record for record in records if not is_void(record)]
    drawn_records = [record for record in valid_records if not list_losers(record)]
    return DrawCounts(
        len(valid_records),
        len(drawn_records),
        sum(record.result.ended_by_repetition for record in drawn_records),
    )


def count_draws_by_map(records: Iterable[Record]) -> dict[str, DrawCounts]:
    """Count the matches and the draws on each map, in order of first appearance; a game without maps counts as one map."""
    records_by_map: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records:
        records_by_map[get_map_or_game_name(record)].append(record)
    return {name: count_draws(map_records) for name, map_records in records_by_map.items()}
