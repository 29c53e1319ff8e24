"""Openings worth playing: random ones, less those that are decided and those after which it hardly matters what is played.

Every search has a fixed number of nodes on one thread, and no clock is read: the same map, rules and seed give the same
openings on every machine, with any number of processes.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from itertools import count, islice
from multiprocessing import get_context

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.search.values import WIN
from arena.games.board import RisklessMap
from arena.games.core import Game
from arena.games.riskless import Armies, Move, Riskless
from arena.lab.selfplay import Budget
from arena.match.openings import Opening, after, random_opening

TABLE_MB = 1
REPLIES_SHARE = 4
"""Each reply to an opening is searched with so many times fewer nodes than the opening itself."""
CHUNK = 16
"""Openings that one task has. Its searcher is made for it, which takes less than a tenth of its time."""
BARREN = 1_000
"""So many random openings in a row that were all drawn before: there are no others, or hardly any."""


@dataclass(frozen=True)
class Judgement:
    """By what an opening is kept. Values are in hundredths of an army, as the evaluator tells them."""

    evaluator: str
    exact: bool
    nodes: int
    window: int
    """The value must be within this of 0."""
    gap: int
    """The best reply must be better than the median one by at least this."""
    depth: int = 100
    """The deepest search, in plies."""


@dataclass(frozen=True)
class Judged:
    """What was found of an opening that is kept; `value` is Maxie's."""

    opening: Opening
    value: int
    gap: int


def make_openings(
    map: RisklessMap,
    plies: int,
    judgement: Judgement,
    *,
    seed: int,
    tries: int,
    processes: int = 1,
    progress: Callable[[int], None] = lambda _: None,
) -> Generator[Judged, None, None]:
    """Openings of `plies` moves that lead to different positions and are kept, in an order that the seed decides.

    tries      how many different openings are judged at the most
    progress   is called with the number of openings that have been judged since it was last called

    The caller stops when it has enough. Raises BadWeights, and ValueError for a map that the compiled engine cannot hold.
    """
    drawn = islice(_different(map, plies, seed), tries)
    chunks = iter(lambda: tuple(islice(drawn, CHUNK)), ())
    if processes == 1:
        for chunk in chunks:
            kept = _judge(map, judgement, chunk)
            progress(len(chunk))
            yield from kept
        return
    # Not forked: the caller has threads, of a progress bar for one.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        waiting: list[tuple[int, Future[list[Judged]]]] = []
        try:
            while True:
                for chunk in islice(chunks, 2 * processes - len(waiting)):
                    waiting.append((len(chunk), pool.submit(_judge, map, judgement, chunk)))  # noqa: PERF401
                if not waiting:
                    return
                # In the order in which they were drawn, whichever is done first.
                judged, future = waiting.pop(0)
                kept = future.result()
                progress(judged)
                yield from kept
        finally:
            pool.shutdown(cancel_futures=True)


def _different(map: RisklessMap, plies: int, seed: int) -> Iterator[Opening]:
    """Random openings whose last positions differ, until hardly any other is found."""
    game = Riskless(map)
    seen: set[object] = set()
    barren = 0
    for number in count():
        opening = random_opening(game, plies, f"{seed}/{number}")
        place = game.recurring(after(game, opening))
        barren = barren + 1 if place in seen else 0
        if barren > BARREN:
            return
        if not barren:
            seen.add(place)
            yield opening


def _judge(map: RisklessMap, judgement: Judgement, openings: Sequence[Opening]) -> list[Judged]:
    """Those of the openings that are kept."""
    game = Riskless(map)
    settings = Settings(table_mb=TABLE_MB, exact=judgement.exact, foresee=False)
    searcher = Searcher(game, weights_for(game, judgement.evaluator), settings)
    try:
        judged = (_judged(game, searcher, judgement, opening) for opening in openings)
        return [each for each in judged if each is not None]
    finally:
        searcher.close()


def _judged(
    game: Game[Armies, Move], searcher: Searcher[Armies, Move], judgement: Judgement, opening: Opening
) -> Judged | None:
    position = after(game, opening)
    searcher.clear()
    value = Budget(nodes=judgement.nodes, depth=judgement.depth).spend(searcher, position).value
    if abs(value) > judgement.window:
        return None
    gap = reply_gap(game, searcher, position, judgement)
    return Judged(opening, value, gap) if gap >= judgement.gap else None


def reply_gap(
    game: Game[Armies, Move], searcher: Searcher[Armies, Move], position: Armies, judgement: Judgement
) -> int:
    """By how much the best reply is better for who is to move than the median one; 0 where there is no choice."""
    budget = Budget(nodes=max(1, judgement.nodes // REPLIES_SHARE), depth=judgement.depth)
    sign = game.player(position).sign
    values = []
    for move in game.moves(position):
        reply = game.successor(position, move)
        outcome = game.outcome(reply)
        if outcome is None:
            searcher.clear()
            values.append(sign * budget.spend(searcher, reply).value)
        else:
            values.append(sign * outcome.winner.sign * WIN if outcome.winner else 0)
    values.sort(reverse=True)
    return values[0] - values[len(values) // 2]
