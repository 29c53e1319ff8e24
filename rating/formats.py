"""Formats of an event (tournament): which pairs of matches to play next, and how the bots rank.

The pairs depend only on the settings of the event and on the results so far. An event that was stopped therefore
resumes with the same pairings.

A format returns pairs of matches as soon as they are known. Only in a Swiss tournament must all matches of a round end before
the next round begins, because the pairings depend on their results.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from arena.rating.pairing import MatchPair, check_entrants, make_round_robin_round, shuffle_by_seed
from arena.rating.standings import StandingsRow, rank_standings
from arena.rating.swiss import pair_swiss_round

MAX_TIE_BREAK_PAIRS = 4
"""Maximum number of extra pairs of matches after a tie in a knockout. If all are drawn, the better seed advances."""

MAX_CONSECUTIVE_ABSENCES = 2
"""Number of encounters missed in a row after which a bot is withdrawn until it joins again.

An encounter is all matches of one round against one opponent.
"""

CHAMPION_STAGE = "champion"
"""Value of `FormatRank.stage` for the winner of a knockout."""

KNOCKOUT_FORMAT = "knockout"
LADDER_FORMATS = ("round-robin", "gauntlet", "swiss", KNOCKOUT_FORMAT)
"""Names of the formats of a ladder (local tournament). An event of a server can also have the format ARENA_FORMAT."""

FORMATS_WITHOUT_ELO = ("swiss", KNOCKOUT_FORMAT)
"""Formats in which a ladder (local tournament) ranks bots by points or rounds. In other formats, it ranks them by Elo."""

ARENA_FORMAT = "arena"
"""Name of the tournament format in which the server pairs bots as soon as they are free."""


class RosterChange(NamedTuple):
    """Entry or withdrawal of a bot in a Swiss event, from round number `round` (counted from 0) on.

    is_joining  True if the bot takes part from this round on, False if it no longer does
    """

    bot: str
    round: int
    is_joining: bool


class FormatRank(NamedTuple):
    """Rank of a bot in an event (tournament), by the rules of the event's format."""

    sort_key: tuple[float, ...]
    """Sort key of the rank: the smallest key is the best rank."""
    bye_points: float = 0
    """Points from byes, which are rounds without an opponent."""
    buchholz: float | None = None
    """Tie-break of a Swiss: sum of the points of all opponents, with their points from byes; None in other formats."""
    stage: str = ""
    """Stage reached in a knockout: `champion`, `final`, `semifinal`, `last 8` and so on; empty in other formats."""


def rank_by_format(rows: Sequence[StandingsRow], format: EventFormat) -> list[StandingsRow]:
    """Return the rows of a tournament's table sorted by the rules of its format, with the columns that the format fills.

    Rows of equal rank stay in the order of `rows`.
    """
    ranks = {row.bot: format.compute_rank(row.bot, row.points) for row in rows}

    def add_format_columns(row: StandingsRow) -> StandingsRow:
        rank = ranks[row.bot]
        return replace(
            row,
            points=row.points + rank.bye_points,
            byes=rank.bye_points,
            buchholz=rank.buchholz,
            knockout_stage=rank.stage,
        )

    return rank_standings(map(add_format_columns, rows), lambda row: ranks[row.bot].sort_key)


class Encounter(Struct, frozen=True):
    """Encounter of two bots in the bracket of a knockout: all their pairs of matches. A bot or winner is None while unknown."""

    first_bot: str | None = msgspec.field(name="first")
    second_bot: str | None = msgspec.field(name="second")
    first_points: float
    second_points: float
    winning_bot: str | None = msgspec.field(name="winner")


class AbsenceCounter:
    """Counter of the encounters that each bot has missed in a row.

    An encounter is all pairs of one round against one opponent. A bot misses an encounter if it appears for none of its
    matches.
    """

    def __init__(self) -> None:
        self._missed_encounters: defaultdict[str, set[tuple[int, str]]] = defaultdict(set)
        """Encounters that each bot has missed in a row, as (round number, opponent)."""
        self._latest_encounters: dict[str, tuple[int, str]] = {}
        """Latest encounter in which each bot appeared, as (round number, opponent)."""

    @property
    def withdrawn_bots(self) -> frozenset[str]:
        """Return the bots that have missed `MAX_CONSECUTIVE_ABSENCES` encounters (all pairs of a round with one opponent) in a row."""
        return frozenset(
            bot
            for bot, encounters in self._missed_encounters.items()
            if len(encounters) >= MAX_CONSECUTIVE_ABSENCES
        )

    def record_absences(self, pair: MatchPair, absent_bots: Collection[str]) -> None:
        """Record which bots appeared for a finished pair of matches.

        absent_bots   bots that missed both matches of the pair
        """
        for bot, opponent in ((pair.first_bot, pair.second_bot), (pair.second_bot, pair.first_bot)):
            encounter = pair.round, opponent
            if bot not in absent_bots:
                self._latest_encounters[bot] = encounter
                self.forget_absences(bot)
            elif self._latest_encounters.get(bot) != encounter:
                self._missed_encounters[bot].add(encounter)

    def forget_absences(self, bot: str) -> None:
        """Reset the count of encounters (opponents of a round) that a bot missed in a row: it is no longer withdrawn."""
        self._missed_encounters.pop(bot, None)


class EventFormat(Protocol):
    """Interface of a tournament format, which decides who plays whom in an event.

    Bots play in pairs of matches: two matches from the same start position, the second with swapped seats.
    """

    @property
    def withdrawn_bots(self) -> frozenset[str]:
        """Return the withdrawn bots: they missed `MAX_CONSECUTIVE_ABSENCES` encounters (opponents of a round) in a row.

        Always empty for a knockout, in which a bot that loses an encounter is out anyway, and for the arena format.
        """

    @property
    def total_matches(self) -> int | None:
        """Return the number of matches in the tournament, with the extra matches after ties so far; None if it has no end."""

    def make_next_pairs(self, *, may_begin_round: bool) -> list[MatchPair]:
        """Return the pairs of matches that can now be played, except pairs returned earlier.

        may_begin_round  True to let a round-robin or gauntlet begin its next round; other formats ignore it. The caller
                         passes True at the start, and when two bots have no match left to start against each other
        """

    def record_pair_result(
        self, pair: MatchPair, first_points: float, second_points: float, absent_bots: Collection[str] = ()
    ) -> None:
        """Record a finished pair of matches, with the points of its two bots.

        absent_bots   bots that missed both matches of the pair
        """

    def compute_rank(self, bot: str, points: float) -> FormatRank:
        """Return the rank of a bot in the tournament. `points`: points that the bot has scored in matches."""


@dataclass
class RoundRobinFormat:
    """Round-robin, in which each bot meets every other, or gauntlet, in which the first bot plays all others.

    round_count           number of rounds; None for an endless event
    start_position_count  number of start positions; two bots that meet play a pair of matches on each in every round
    """

    bots: Sequence[str]
    round_count: int | None
    start_position_count: int
    seed: int
    is_gauntlet: bool = False
    _rounds_started: int = 0
    _finished_pair_counts: Counter[str] = field(default_factory=Counter)
    """Number of pairs of matches that each bot has finished."""
    _absences: AbsenceCounter = field(default_factory=AbsenceCounter)

    def __post_init__(self) -> None:
        check_entrants(self.bots, self.start_position_count)

    @property
    def withdrawn_bots(self) -> frozenset[str]:
        return self._absences.withdrawn_bots

    @property
    def total_matches(self) -> int | None:
        return None if self.round_count is None else 2 * self.round_count * self._pairs_per_round

    @property
    def _pairs_per_round(self) -> int:
        bot_count = len(self.bots)
        encounter_count = bot_count - 1 if self.is_gauntlet else bot_count * (bot_count - 1) // 2
        return encounter_count * self.start_position_count

    def make_next_pairs(self, *, may_begin_round: bool) -> list[MatchPair]:
        if not may_begin_round or (self.round_count is not None and self._rounds_started >= self.round_count):
            return []
        round = self._rounds_started
        self._rounds_started += 1
        first_number = round * self._pairs_per_round
        if not self.is_gauntlet:
            return make_round_robin_round(
                self.bots, round, self.start_position_count, self.seed, first_number
            )
        champion, *opponents = self.bots
        pairs: list[MatchPair] = []
        for start in range(self.start_position_count):
            for opponent in shuffle_by_seed(opponents, f"{self.seed}/{round}/{start}"):
                pairs.append(MatchPair(first_number + len(pairs), round, start, champion, opponent))
        return pairs

    def record_pair_result(
        self,
        pair: MatchPair,
        first_points: float,  # noqa: ARG002  pairings do not depend on results
        second_points: float,  # noqa: ARG002
        absent_bots: Collection[str] = (),
    ) -> None:
        self._finished_pair_counts.update((pair.first_bot, pair.second_bot))
        self._absences.record_absences(pair, absent_bots)

    def compute_rank(self, bot: str, points: float) -> FormatRank:
        if self.is_gauntlet and bot == self.bots[0]:
            # The first bot plays in every match; an opponent ranks above it by scoring more than half against it.
            # Half of the two points of each finished pair is one point.
            points = max(self._finished_pair_counts[opponent] for opponent in self.bots[1:])
        return FormatRank((-points,))


@dataclass
class SwissFormat:
    """Swiss system: in each round bots with equal points meet, if possible bots that have not met before (`rating.swiss`).

    The order of the bots is the seeding. A bot with a bye scores as if it had won all matches of the round. A bot that
    missed `MAX_CONSECUTIVE_ABSENCES` encounters in a row is no longer paired until it joins again.
    """

    bots: list[str]
    round_count: int | None
    start_position_count: int
    rounds_started: int = 0
    """Number of rounds whose pairings have been made."""
    _next_pair_number: int = 0
    _unfinished_pair_numbers: set[int] = field(default_factory=set)
    """Numbers (`MatchPair.number`) of the current round's pairs of matches that are not finished."""
    _inactive_bots: set[str] = field(default_factory=set)
    """Bots that are not paired, because they left the event or were withdrawn after repeated absence."""
    _roster_changes_by_round: defaultdict[int, list[tuple[str, bool]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Roster changes by round: each has a bot, and True if it joins from that round on or False if it leaves."""
    _points_by_bot: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """Points of each bot, including points from byes."""
    _opponents_by_bot: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Opponents that each bot has met, in the order of its rounds; an opponent met twice is listed twice."""
    _bye_counts: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    _idle_round_counts: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    """Number of rounds in which each bot did not play: because of a bye, an absence, or a late entry."""
    _absences: AbsenceCounter = field(default_factory=AbsenceCounter)

    def __post_init__(self) -> None:
        check_entrants(self.bots, self.start_position_count)

    @property
    def withdrawn_bots(self) -> frozenset[str]:
        return self._absences.withdrawn_bots

    def change_roster(self, *changes: RosterChange) -> None:
        """Let bots join or leave, each from a round that is not paired yet. New bots come last in the seeding."""
        for bot, round, joins in changes:
            if bot not in self.bots:
                self.bots.append(bot)
                self._idle_round_counts[bot] = self.rounds_started
            self._roster_changes_by_round[round].append((bot, joins))

    @property
    def total_matches(self) -> int | None:
        return (
            None
            if self.round_count is None
            else 2 * self.round_count * (len(self.bots) // 2) * self.start_position_count
        )

    def make_next_pairs(self, *, may_begin_round: bool) -> list[MatchPair]:  # noqa: ARG002  a round is paired when the previous one is over
        if self._unfinished_pair_numbers or (
            self.round_count is not None and self.rounds_started >= self.round_count
        ):
            return []
        round = self.rounds_started
        active_bots = self._update_active_bots(round)
        if len(active_bots) < 2:
            return []
        self.rounds_started += 1
        swiss_round = pair_swiss_round(
            active_bots,
            self._points_by_bot,
            lambda a, b: self._opponents_by_bot[a].count(b),
            self._idle_round_counts,
        )
        if swiss_round.bye_bot is not None:
            self._bye_counts[swiss_round.bye_bot] += 1
            self._points_by_bot[swiss_round.bye_bot] += 2 * self.start_position_count
        paired_bots = {bot for meeting in swiss_round.bot_pairs for bot in meeting}
        for bot in self.bots:
            self._idle_round_counts[bot] += bot not in paired_bots
        pairs: list[MatchPair] = []
        for first, second in swiss_round.bot_pairs:
            self._opponents_by_bot[first].append(second)
            self._opponents_by_bot[second].append(first)
            for start in range(self.start_position_count):
                pairs.append(MatchPair(self._next_pair_number + len(pairs), round, start, first, second))
        self._next_pair_number += len(pairs)
        self._unfinished_pair_numbers = {pair.number for pair in pairs}
        return pairs

    def _update_active_bots(self, round: int) -> list[str]:
        """Apply the withdrawals and the roster changes of a round, and return the bots to be paired in it."""
        self._inactive_bots |= self.withdrawn_bots
        for bot, joins in self._roster_changes_by_round.pop(round, ()):
            self._absences.forget_absences(bot)
            (self._inactive_bots.discard if joins else self._inactive_bots.add)(bot)
        return [bot for bot in self.bots if bot not in self._inactive_bots]

    def record_pair_result(
        self, pair: MatchPair, first_points: float, second_points: float, absent_bots: Collection[str] = ()
    ) -> None:
        self._points_by_bot[pair.first_bot] += first_points
        self._points_by_bot[pair.second_bot] += second_points
        self._absences.record_absences(pair, absent_bots)
        self._unfinished_pair_numbers.discard(pair.number)

    def compute_rank(self, bot: str, points: float) -> FormatRank:
        byes = self._bye_counts[bot] * 2 * self.start_position_count
        buchholz = sum(self._points_by_bot[other] for other in self._opponents_by_bot[bot])
        return FormatRank((-points - byes, -buchholz), byes, buchholz)


class ArenaFormat:
    """Arena format: the server pairs bots whenever they are free, and the bot with the most points wins the event."""

    total_matches = None
    withdrawn_bots: frozenset[str] = frozenset()

    def make_next_pairs(self, *, may_begin_round: bool) -> list[MatchPair]:  # noqa: ARG002  the server pairs the bots
        return []

    def record_pair_result(
        self, pair: MatchPair, first_points: float, second_points: float, absent_bots: Collection[str] = ()
    ) -> None:
        """Do nothing, because pairings do not depend on results."""

    def compute_rank(self, bot: str, points: float) -> FormatRank:  # noqa: ARG002  points alone decide
        return FormatRank((-points,))


@dataclass
class _BracketNode:
    """Encounter in the tree of a knockout: all pairs of matches of two bots, of which the winner advances.

    bots                   the two bots: known from the start, or winners of earlier encounters; None while unknown
    parent_index           index of the encounter in which the winner plays next; None for the final
    parent_slot            index of the winner in the `bots` of that encounter, 0 or 1
    points_by_bot          points of each bot in the finished pairs
    unfinished_pair_count  number of scheduled pairs that are not finished
    scheduled_pair_count   number of scheduled pairs so far, finished ones included
    """

    bots: list[str | None]
    parent_index: int | None
    parent_slot: int
    depth: int
    """Number of further encounters that the winner of this one must win for the title: 0 for the final, 1 for a semifinal."""
    points_by_bot: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    unfinished_pair_count: int = 0
    scheduled_pair_count: int = 0
    winner: str | None = None

    def count_scheduled_pair(self) -> None:
        """Add one to the number of scheduled pairs of matches of this encounter (all matches of two bots in a knockout)."""
        self.scheduled_pair_count += 1
        self.unfinished_pair_count += 1

    def record_pair_points(self, points_by_bot: Mapping[str, float]) -> None:
        """Add the points that each of the two bots scored in a finished pair of matches of this encounter."""
        for bot, new_points in points_by_bot.items():
            self.points_by_bot[bot] += new_points
        self.unfinished_pair_count -= 1


@dataclass
class KnockoutFormat:
    """Knockout: the loser of an encounter is eliminated.

    In an encounter, two bots play `pairs_per_start_position` pairs of matches on each start position, and up to
    `MAX_TIE_BREAK_PAIRS` more pairs to break a tie. `bots` are in order of seeding, the first seed first; the bracket lets
    the first two meet only in the final. An encounter starts as soon as its two bots are known.
    """

    bots: Sequence[str]
    pairs_per_start_position: int
    start_position_count: int
    _bracket_nodes: list[_BracketNode] = field(default_factory=list)
    """Encounters of the bracket, the final first. An encounter comes before the two encounters whose winners meet in it."""
    _unscheduled_encounter_indexes: list[int] = field(default_factory=list)
    """Indices in `_bracket_nodes` of the encounters whose two bots are known, but whose matches are not scheduled yet."""
    _tie_break_pair_count: int = 0
    """Number of extra pairs of matches that were scheduled after ties."""
    _elimination_depth_by_bot: dict[str, int] = field(default_factory=dict)
    """Depth of the encounter that each eliminated bot lost: 0 for the final, 1 for a semifinal, and so on."""
    winner: str | None = None
    withdrawn_bots: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        check_entrants(self.bots, self.start_position_count)
        self._seed_by_bot = {bot: place for place, bot in enumerate(self.bots)}
        """Place of each bot in the seeding, from 0."""
        self._add_bracket_part(list(_make_bracket_seeds(len(self.bots))), None, 0, 0)

    def _add_bracket_part(
        self, seeds: list[int], parent_index: int | None, parent_slot: int, depth: int
    ) -> None:
        """Create the encounters of a part of the bracket, in which the bots with these seeds play until one of them is left.

        seeds         seeds of the bots, from 0; a seed that is not lower than the number of bots is a bye
        parent_index  index of the encounter in which the bot that is left plays next; None for the whole bracket
        parent_slot   index of this bot among the two bots of that encounter, 0 or 1
        depth         number of further encounters that this bot must win for the title: 0 for the whole bracket
        """
        index = len(self._bracket_nodes)
        node = _BracketNode([None, None], parent_index, parent_slot, depth)
        self._bracket_nodes.append(node)
        half_count = len(seeds) // 2
        for side, half_seeds in enumerate((seeds[:half_count], seeds[half_count:])):
            seeds_present = [seed for seed in half_seeds if seed < len(self.bots)]
            if len(seeds_present) > 1:
                self._add_bracket_part(half_seeds, index, side, depth + 1)
            else:  # a bot alone in its part of the bracket advances without playing
                node.bots[side] = self.bots[seeds_present[0]]
        if None not in node.bots:
            self._unscheduled_encounter_indexes.append(index)

    @property
    def total_matches(self) -> int | None:
        return 2 * (
            (len(self.bots) - 1) * self.pairs_per_start_position * self.start_position_count
            + self._tie_break_pair_count
        )

    @property
    def _max_pairs_per_encounter(self) -> int:
        """Maximum number of pairs of matches of two bots that meet: the regular pairs, and the extra pairs after a tie."""
        return self.pairs_per_start_position * self.start_position_count + MAX_TIE_BREAK_PAIRS

    def make_next_pairs(self, *, may_begin_round: bool) -> list[MatchPair]:  # noqa: ARG002  an encounter is scheduled when its bots are known
        pairs: list[MatchPair] = []
        for index in sorted(self._unscheduled_encounter_indexes):
            pairs += [
                self._make_next_pair(index)
                for _ in range(self.pairs_per_start_position * self.start_position_count)
            ]
        for index, node in enumerate(self._bracket_nodes):
            if (
                node.scheduled_pair_count
                and not node.unfinished_pair_count
                and self._is_tied(node)
                and node.scheduled_pair_count < self._max_pairs_per_encounter
            ):
                self._tie_break_pair_count += 1
                pairs.append(self._make_next_pair(index))
        self._unscheduled_encounter_indexes.clear()
        return pairs

    def _make_next_pair(self, encounter_index: int) -> MatchPair:
        node = self._bracket_nodes[encounter_index]
        first, second = node.bots
        if first is None or second is None:
            raise ValueError(
                f"the bots of knockout encounter {encounter_index} are not known before earlier encounters end"
            )
        number = encounter_index * self._max_pairs_per_encounter + node.scheduled_pair_count
        pair = MatchPair(
            number,
            node.scheduled_pair_count // self.start_position_count,
            node.scheduled_pair_count % self.start_position_count,
            first,
            second,
        )
        node.count_scheduled_pair()
        return pair

    def record_pair_result(
        self,
        pair: MatchPair,
        first_points: float,
        second_points: float,
        absent_bots: Collection[str] = (),  # noqa: ARG002  an absent bot has lost anyway
    ) -> None:
        node = self._bracket_nodes[pair.number // self._max_pairs_per_encounter]
        node.record_pair_points({pair.first_bot: first_points, pair.second_bot: second_points})
        if node.unfinished_pair_count or (
            self._is_tied(node) and node.scheduled_pair_count < self._max_pairs_per_encounter
        ):
            return
        bots = pair.first_bot, pair.second_bot
        node.winner = winner = min(bots, key=lambda bot: (-node.points_by_bot[bot], self._seed_by_bot[bot]))
        self._elimination_depth_by_bot[bots[winner == pair.first_bot]] = node.depth
        if node.parent_index is None:
            self.winner = winner
            return
        parent = self._bracket_nodes[node.parent_index]
        parent.bots[node.parent_slot] = winner
        if None not in parent.bots:
            self._unscheduled_encounter_indexes.append(node.parent_index)

    def compute_rank(self, bot: str, points: float) -> FormatRank:  # noqa: ARG002  points decide only encounters
        if bot == self.winner:
            return FormatRank((0.0,), stage=CHAMPION_STAGE)
        lost_depth = self._elimination_depth_by_bot.get(bot)
        if lost_depth is not None:
            return FormatRank((lost_depth + 1.0,), stage=_format_stage_name(lost_depth))
        depth = min((node.depth for node in self._bracket_nodes if bot in node.bots), default=0)
        return FormatRank((depth + 0.5,), stage=_format_stage_name(depth))

    def make_bracket(self) -> list[list[Encounter]]:
        """Return the encounters (meetings of two bots) of each round, in order; within a round, from the top of the bracket."""
        depth = max(node.depth for node in self._bracket_nodes)
        return [
            [_make_encounter(node) for node in self._bracket_nodes if node.depth == level]
            for level in range(depth, -1, -1)
        ]

    @staticmethod
    def _is_tied(node: _BracketNode) -> bool:
        return len(set(node.points_by_bot.values())) < 2


def _format_stage_name(depth: int) -> str:
    return ("final", "semifinal")[depth] if depth < 2 else f"last {2 ** (depth + 1)}"


def _make_encounter(node: _BracketNode) -> Encounter:
    first, second = node.bots
    points = [node.points_by_bot.get(bot, 0.0) if bot is not None else 0.0 for bot in node.bots]
    return Encounter(first, second, points[0], points[1], node.winner)


def _make_bracket_seeds(bot_count: int) -> list[int]:
    """Return the seeds (ranks before the event, from 0) in the order of their places in a bracket for `bot_count` bots.

    The number of places is the smallest power of two that is at least `bot_count`. Seeds from `bot_count` on are byes.
    """
    seeds = [0]
    while len(seeds) < bot_count:
        size = 2 * len(seeds)
        seeds = [other for seed in seeds for other in (seed, size - 1 - seed)]
    return seeds


def make_format(
    format_name: str,
    bots: Sequence[str],
    round_count: int | None,
    start_position_count: int,
    seed: int,
    roster_changes: Iterable[RosterChange] = (),
) -> EventFormat:
    """Return the format called `format_name`: one of `LADDER_FORMATS`, or ARENA_FORMAT. Raises ValueError for any other name.

    bots                  names of the bots in order of seeding; in a gauntlet, the first one plays all others
    round_count           number of rounds, None for an endless event; in a knockout, pairs per start position of an encounter
    start_position_count  number of start positions
    seed                  random seed; the same seed gives the same order of the pairings
    roster_changes        bots that join or leave a Swiss; unused by the other formats
    """
    makers: dict[str, Callable[[], EventFormat]] = {
        "round-robin": lambda: RoundRobinFormat(bots, round_count, start_position_count, seed),
        "gauntlet": lambda: RoundRobinFormat(bots, round_count, start_position_count, seed, is_gauntlet=True),
        "swiss": lambda: SwissFormat([*bots], round_count, start_position_count),
        ARENA_FORMAT: ArenaFormat,
        "knockout": lambda: KnockoutFormat(bots, round_count or 1, start_position_count),
    }
    if format_name not in makers:
        raise ValueError(f"no format is called {format_name!r:.40}: choose from {', '.join(LADDER_FORMATS)}")
    format = makers[format_name]()
    if isinstance(format, SwissFormat):
        format.change_roster(*roster_changes)
    return format
