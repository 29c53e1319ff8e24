"""What the kernel of examples/games/connect4_kernel.py gains: alpha-beta on Connect Four, readable and compiled.

Both search the same positions to the same depth, exactly, on one thread, each with a table of its own and after it was
compiled. Told are nodes a second, and how much sooner the compiled search is done.

    python -m benchmarks.engine.own [--depth 6] [--positions 8]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from random import Random
from typing import Any

from arena.bots.compiled.catalogue import weights_for
from arena.bots.compiled.searcher import Searcher, Settings
from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.deepening import deepen
from arena.bots.search.play import Table, alphabeta_search
from arena.games.core import Game
from arena.games.loading import game_in_file

FILE = Path(__file__).parents[2] / "examples" / "games" / "connect4.py"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--positions", type=int, default=8)
    given = parser.parse_args()
    game: Game[Any, Any] = game_in_file(FILE, "")()
    positions = [opening(game, seed) for seed in range(given.positions)]
    searcher = Searcher(game, weights_for(game, "plain"), Settings(exact=True))
    searcher.warm_up()
    figures = {}
    for name in ("readable", "compiled"):
        nodes, seconds, values = 0, 0.0, []
        for position in positions:
            before = time.perf_counter()
            reports = (
                searcher.deepen(position, max_depth=given.depth)
                if name == "compiled"
                else deepen(
                    game,
                    position,
                    alphabeta_search(evaluator_for(game), table=Table()),
                    max_depth=given.depth,
                )
            )
            told = list(reports)
            seconds += time.perf_counter() - before
            nodes += max(report.nodes for report in told)
            values.append(told[-1].value)
        figures[name] = (nodes, seconds, values)
        print(f"{name}: {nodes:,} nodes in {seconds:.3f} s, {nodes / seconds:,.0f} nodes/s")
    searcher.close()
    if figures["readable"][2] != figures["compiled"][2]:
        raise SystemExit("the two searches do not find the same values")
    gain = figures["readable"][1] / figures["compiled"][1]
    print(
        f"to depth {given.depth} from {len(positions)} positions, compiled is done {gain:,.0f} times as soon"
    )


def opening(game: Game[Any, Any], seed: int) -> Any:
    """A position after six random moves that nobody has won."""
    chance = Random(seed)
    position = game.start()
    for _ in range(6):
        position = game.successor(position, chance.choice(game.moves(position)))
    return position


if __name__ == "__main__":
    main()
