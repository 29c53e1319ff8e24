"""Openings worth playing: random ones without those that are decided or after which the reply hardly matters.

Every second opening is one ply longer, so that both players have the first move after it equally often. The value of a
search alone does not show that an opening is even: of 200 openings that a search of 8,000 nodes called even on italy, Maxie
won 62 % between equal engines with 4,000 nodes a move. So equal engines also play four matches from each opening, and each
player must win two.

Every search has a fixed number of nodes on one thread, and no clock is read: the same map, rules and seed give the same
openings on every machine, with any number of processes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import count, islice

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.review.chance import chance
from arena.games.board import RisklessMap
from arena.games.core import Game, Player
from arena.games.riskless import Armies, Move, Riskless
from arena.lab.processes import in_processes
from arena.lab.selfplay import gap, play, points_of, reply_chances, settled_value
from arena.match.openings import Opening, position_after, random_opening

TABLE_MB = 1
REPLIES_SHARE = 4
"""Factor by which the search of a reply has fewer nodes than the search of the opening."""
PLAYOUT_SHARES = (16, 8, 4, 2)
"""Factor by which the searches of each match from an opening have fewer nodes than the search of the opening."""
CHUNK = 16
"""Number of openings per task. A task creates its own searcher, which takes less than a tenth of its time."""
BARREN = 1_000
"""Number of repeated random openings in a row after which (almost) no new ones are left."""


@dataclass(frozen=True)
class Criteria:
    """Bounds for keeping an opening, in chances of winning from 0 to 1."""

    evaluator: str
    exact: bool
    nodes: int
    window: float
    """Maximum distance of Maxie's chance from one half."""
    gap: float
    """Minimum advantage of the best reply over the median one."""
    depth: int = 100
    """Maximum depth of a search, in plies."""


@dataclass(frozen=True)
class KeptOpening:
    """An accepted opening, Maxie's chance after it, and the gap between the best and the median reply."""

    opening: Opening
    chance: float
    gap: float


def make_openings(
    map: RisklessMap,
    plies: int,
    criteria: Criteria,
    *,
    seed: int,
    tries: int,
    processes: int = 1,
    progress: Callable[[int], None] = lambda _: None,
) -> Generator[KeptOpening, None, None]:
    """Yield accepted openings of `plies` and `plies + 1` moves by turns, in an order determined by `seed`.

    They lead to different positions.

    tries      maximum number of different openings that are judged
    progress   called with the number of openings judged since the last call

    The caller stops when it has enough. Raises BadWeights, and ValueError for a map that the compiled engine cannot hold.
    """
    drawn = islice(_distinct_openings(map, plies, seed), tries)
    chunks = iter(lambda: tuple(islice(drawn, CHUNK)), ())
    judged = in_processes(_judge, ((map, criteria, chunk) for chunk in chunks), processes)
    shorter: deque[KeptOpening] = deque()
    longer: deque[KeptOpening] = deque()
    with closing(judged):
        for (_, _, chunk), openings_kept in judged:
            progress(len(chunk))
            for each in openings_kept:
                (shorter if len(each.opening) == plies else longer).append(each)
            while shorter and longer:
                yield shorter.popleft()
                yield longer.popleft()


def _distinct_openings(map: RisklessMap, plies: int, seed: int) -> Iterator[Opening]:
    """Yield random openings of `plies` and `plies + 1` moves by turns, until hardly any new final position is found."""
    game = Riskless(map)
    positions: set[object] = set()
    barren = 0
    for number in count():
        opening = random_opening(game, plies + number % 2, f"{seed}/{number}")
        place = game.recurring(position_after(game, opening))
        barren = barren + 1 if place in positions else 0
        if barren > BARREN:
            return
        if not barren:
            positions.add(place)
            yield opening


def _judge(map: RisklessMap, criteria: Criteria, openings: Sequence[Opening]) -> list[KeptOpening]:
    """Return the openings that meet the criteria."""
    game = Riskless(map)
    settings = Settings(table_mb=TABLE_MB, exact=criteria.exact, foresee=False)
    searcher = Searcher(game, weights_for(game, criteria.evaluator), settings)
    try:
        judged = (_judge_opening(game, searcher, criteria, opening) for opening in openings)
        return [each for each in judged if each is not None]
    finally:
        searcher.close()


def _judge_opening(
    game: Game[Armies, Move], searcher: Searcher[Armies, Move], criteria: Criteria, opening: Opening
) -> KeptOpening | None:
    position = position_after(game, opening)
    searcher.clear()
    even = chance(game, settled_value(searcher, position, criteria.nodes, criteria.depth))
    if abs(even - 0.5) > criteria.window:
        return None
    median_gap = gap(
        reply_chances(game, searcher, position, max(1, criteria.nodes // REPLIES_SHARE), criteria.depth)
    )
    if median_gap < criteria.gap or not _splits_matches(game, searcher, criteria, position):
        return None
    return KeptOpening(opening, even, median_gap)


def _splits_matches(
    game: Game[Armies, Move], searcher: Searcher[Armies, Move], criteria: Criteria, position: Armies
) -> bool:
    """Return True if each player scores at least 1½ points in four matches between equal engines."""
    seats = dict.fromkeys(Player, searcher)
    matches = [play(game, position, seats, max(1, criteria.nodes // share)) for share in PLAYOUT_SHARES]
    points = sum(points_of(each.winner, Player.MAXIE) for each in matches)
    return abs(points - len(matches) / 2) <= 0.5
