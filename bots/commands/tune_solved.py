"""`arena tune --from-solved`: weights fitted to what positions are truly worth, and what that is worth elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena.console import Failure, Misuse
from arena.games.riskless import Riskless
from arena.rating.pentanomial import Difference, difference, pair_counts
from arena.solved.header import BadTable
from arena.solved.solution import Solution, solution_of

if TYPE_CHECKING:
    from arena.bots.compiled.learning.tune import Fit

Weights = Mapping[str, int]
Task = Callable[[str, int], Callable[[], None]]
"""Begins a part of the work, of so many steps; what it returns is called after each."""


@dataclass(frozen=True)
class Learned:
    """Both ways to learn from the same maps: a fit for each generation."""

    truth: Sequence[Fit]
    """To the exact values of the positions."""
    play: Sequence[Fit]
    """To how the matches ended; as many matches."""


@dataclass(frozen=True)
class Duel:
    """What the weights from the truth won against others on a map that was not learned from."""

    map: str
    against: str
    points: Sequence[float]
    """What was won of each pair of matches: 0 to 2."""

    @property
    def elo(self) -> Difference:
        found = difference(pair_counts(self.points))
        if found is None:
            raise ValueError("a duel has at least one pair")
        return found

    def __str__(self) -> str:
        elo = self.elo
        return (
            f"on {self.map}, against {self.against}: {sum(self.points):g} of {2 * len(self.points)} points, "
            f"{elo.elo:+.0f} ± {elo.error:.0f} Elo"
        )

    def data(self) -> dict[str, object]:
        """The duel as plain data, for a file of JSON."""
        return {
            "map": self.map,
            "against": self.against,
            "pairs": len(self.points),
            "points": sum(self.points),
            "elo": self.elo.elo,
            "error": self.elo.error,
        }


def solutions_of(games: Sequence[Riskless]) -> list[Solution]:
    """The truth of each game. Raises Misuse for a map that is not solved, Failure for a damaged table."""
    found = []
    for game in games:
        try:
            solution = solution_of(game)
        except BadTable as error:
            raise Failure(str(error)) from None
        if solution is None:
            raise Misuse(
                f"--from-solved: {game.map.name} is not solved: `arena solve {game.map.name}` makes its table"
            )
        found.append(solution)
    return found


def learn(
    games: Sequence[Riskless],
    solutions: Sequence[Solution],
    weights: Weights,
    *,
    generations: int,
    matches: int,
    nodes: int,
    seed: int,
    task: Task,
) -> Learned:
    """Fit weights both ways. The first generation of both are the same matches, later ones each plays by itself."""
    from arena.bots.compiled.learning.tune import fit, self_play  # noqa: PLC0415 - an extra, and slow to load

    names = list(weights)
    total = matches * len(games)
    truth: list[Fit] = []
    play: list[Fit] = []
    for generation in range(generations):
        begun = [fits[-1].weights if fits else weights for fits in (truth, play)]
        lots = [
            self_play(
                games,
                each,
                matches=matches,
                nodes=nodes,
                seed=seed + generation,
                progress=task(f"generation {generation + 1}", total),
                solutions=solutions,
            )
            for each in (begun if begun[0] != begun[1] else begun[:1])
        ]
        truth.append(fit(lots[0].by_truth(), names, begun[0]))
        play.append(fit(lots[-1], names, begun[1]))
    return Learned(truth, play)


def duels(
    maps: Sequence[Riskless],
    learned: Learned,
    begun: Weights,
    *,
    pairs: int,
    nodes: int,
    seed: int,
    task: Task,
) -> Iterator[Duel]:
    """What the truth is worth on maps that were not learned from: against self-play, and against what both began with.

    With several maps, then on all of them together.
    """
    from arena.bots.compiled.learning.selfplay import duel  # noqa: PLC0415 - an extra, and slow to load

    mine = learned.truth[-1].weights
    whole: dict[str, list[float]] = {}
    for against, other in (("self-play", learned.play[-1].weights), ("the weights of before", begun)):
        for game in maps:
            name = game.map.name
            step = task(f"{name}, against {against}", pairs)
            points = duel(game, mine, other, pairs=pairs, nodes=nodes, seed=seed, progress=step)
            whole.setdefault(against, []).extend(points)
            yield Duel(name, against, points)
    if len(maps) > 1:
        yield from (Duel("all of these maps", against, points) for against, points in whole.items())
