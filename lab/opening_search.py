"""Search for good openings: random openings that are even, and after which the choice of the next move matters.

Every second opening is one ply longer, so that after half of the openings Maxie is to move, and after the others Minnie.

A search that values an opening as even does not prove that the opening is fair. For example, a search of 8,000 nodes
valued 200 openings of italy as even, but Maxie won 62 % of the matches from them between equal engines with 4,000 nodes
per move. Matches at one strength are not enough either: from some openings weak engines win more often as Minnie, and
strong engines as Maxie. So equal engines of several strengths play two matches each from each opening, and at each
strength each player must score at least half a point.

Every search has a fixed number of nodes and one thread, and no clock is read. So the same map, rules and seed give the
same openings on every machine, with any number of processes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count, islice

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.review.chance import compute_winning_chance
from arena.games.core import Game, Player
from arena.games.riskless import Move, Riskless, RisklessPosition
from arena.games.riskless_map import RisklessMap
from arena.lab.processes import map_in_processes
from arena.lab.selfplay import (
    compute_best_to_median_gap,
    compute_reply_winning_chances,
    get_match_points,
    play_match,
    search_depth_averaged_value,
)
from arena.match.openings import find_position_after, make_random_opening
from arena.protocol.values import Opening

OPENING_TEST_TRANSPOSITION_TABLE_MB = 1
"""Size of the transposition table of a searcher that tests openings, in MiB."""
REPLY_NODES_DIVISOR = 4
"""Divisor of `OpeningCriteria.nodes_per_opening` that gives the number of nodes to search after each reply to an opening."""
TEST_MATCH_NODE_FACTORS = (0.75, 1.25)
"""Factors by which a strength (in nodes per move) is multiplied for the first and for the second of two test matches.

The two factors differ, because equal engines with equal nodes would play the same match twice.
"""
OPENINGS_PER_FILTER_TASK = 16
"""Number of openings that a process tests in one task. Creating the searcher takes under 10 % of the time of such a task."""
MAX_CONSECUTIVE_DUPLICATE_OPENINGS = 1_000
"""Number of consecutive random openings, all leading to positions of earlier ones, after which the search for openings ends."""


@dataclass(frozen=True)
class OpeningCriteria:
    """Tests that an opening must pass, and the settings of the searches that test it. Winning chances are from 0 to 1.

    uses_exact_search  True for searches that find minimax's exact value; False for searches that also prune moves that look bad
    nodes_per_opening  number of nodes for the search of the opening's position; the search after each possible next move has a
                       quarter of them (REPLY_NODES_DIVISOR)
    """

    evaluator: str
    uses_exact_search: bool
    nodes_per_opening: int
    max_winning_chance_deviation: float
    """Maximum difference between Maxie's winning chance and one half."""
    min_reply_chance_gap: float
    """Minimum difference in winning chance between the best and the median reply to an opening."""
    strengths_nodes_per_move: tuple[int, ...]
    """Strengths of test matches between equal engines, in nodes per move.

    At each strength, two matches are played, and each player must score at least half a point in them.
    """
    max_depth: int = 100
    """Maximum depth of a search that tests an opening, in plies."""


def make_openings(
    map: RisklessMap,
    ply_count: int,
    criteria: OpeningCriteria,
    *,
    seed: int,
    max_candidates: int,
    process_count: int = 1,
    on_progress: Callable[[int], None] = lambda _: None,
) -> Generator[Opening, None, None]:
    """Yield random openings that meet `criteria`, alternating between `ply_count` and `ply_count + 1` moves.

    No two openings lead to the same position. The same `seed` gives the same openings. The caller closes the generator
    when it has enough of them.

    max_candidates  maximum number of openings to test
    process_count   number of processes that test openings
    on_progress     called with the number of openings tested since the last call

    Raises BadWeights if the evaluator's file is invalid, and ValueError for a map that is too large for the compiled
    engines.
    """
    candidates = islice(_draw_distinct_openings(map, ply_count, seed), max_candidates)
    chunks = iter(lambda: tuple(islice(candidates, OPENINGS_PER_FILTER_TASK)), ())
    tested_chunks = map_in_processes(
        _filter_openings, ((map, criteria, chunk) for chunk in chunks), process_count
    )
    shorter_openings: deque[Opening] = deque()
    longer_openings: deque[Opening] = deque()
    with closing(tested_chunks):
        for (_, _, chunk), openings_kept in tested_chunks:
            on_progress(len(chunk))
            for opening in openings_kept:
                (shorter_openings if len(opening) == ply_count else longer_openings).append(opening)
            while shorter_openings and longer_openings:
                yield shorter_openings.popleft()
                yield longer_openings.popleft()


def _draw_distinct_openings(map: RisklessMap, ply_count: int, seed: int) -> Iterator[Opening]:
    """Yield random openings that lead to different positions, alternating between `ply_count` and `ply_count + 1` moves.

    The iterator ends after MAX_CONSECUTIVE_DUPLICATE_OPENINGS openings in a row without a new position.
    """
    game = Riskless(map)
    seen_keys: set[object] = set()
    fruitless_tries = 0
    for number in count():
        opening = make_random_opening(game, ply_count + number % 2, f"{seed}/{number}")
        position_key = game.repetition_key(find_position_after(game, opening))
        fruitless_tries = fruitless_tries + 1 if position_key in seen_keys else 0
        if fruitless_tries > MAX_CONSECUTIVE_DUPLICATE_OPENINGS:
            return
        if not fruitless_tries:
            seen_keys.add(position_key)
            yield opening


def _filter_openings(
    map: RisklessMap, criteria: OpeningCriteria, openings: Sequence[Opening]
) -> list[Opening]:
    """Return the openings that pass the tests of `criteria`, in the order of `openings`."""
    game = Riskless(map)
    settings = Settings(
        table_mb=OPENING_TEST_TRANSPOSITION_TABLE_MB, exact=criteria.uses_exact_search, foresee=False
    )
    with closing(Searcher(game, weights_for(game, criteria.evaluator), settings)) as searcher:
        return [
            opening
            for opening in openings
            if _meets_criteria(game, searcher, criteria, find_position_after(game, opening))
        ]


def _meets_criteria(
    game: Game[RisklessPosition, Move],
    searcher: Searcher[RisklessPosition, Move],
    criteria: OpeningCriteria,
    position: RisklessPosition,
) -> bool:
    searcher.clear()
    chance = compute_winning_chance(
        game, search_depth_averaged_value(searcher, position, criteria.nodes_per_opening, criteria.max_depth)
    )
    if abs(chance - 0.5) > criteria.max_winning_chance_deviation:
        return False
    reply_nodes = max(1, criteria.nodes_per_opening // REPLY_NODES_DIVISOR)
    median_gap = compute_best_to_median_gap(
        compute_reply_winning_chances(game, searcher, position, reply_nodes, criteria.max_depth)
    )
    return median_gap >= criteria.min_reply_chance_gap and _has_even_test_matches(
        game, searcher, criteria, position
    )


def _has_even_test_matches(
    game: Game[RisklessPosition, Move],
    searcher: Searcher[RisklessPosition, Move],
    criteria: OpeningCriteria,
    position: RisklessPosition,
) -> bool:
    """Return True if from `position`, at each strength, each player scores at least half a point in two test matches.

    The two matches are between equal engines.
    """
    seats = dict.fromkeys(Player, searcher)
    for nodes in criteria.strengths_nodes_per_move:
        matches = [
            play_match(game, position, seats, max(1, int(nodes * factor)))
            for factor in TEST_MATCH_NODE_FACTORS
        ]
        points = sum(get_match_points(match.winner, Player.MAXIE) for match in matches)
        if abs(points - len(matches) / 2) > 0.5:
            return False
    return True
