"""A compiled search as a process of its own, so that two states of the repository can be held against each other.

    cd CHECKOUT && …/python …/benchmarks/engine/worker.py exact=yes evaluator=features

It is run in the folder of the checkout whose engine is meant: all that it imports of the project is that checkout's. The first
line that it reads is the map, as the `setup` of a record tells it. Each other one is a JSON object, and so is each that it
answers:

    {"clear": true}                                             {}
    {"armies": [1, -2, 0], "player": 1, "ply": 4, "depth": 6}   {"move": [0, 1], "value": 12, "depth": 6, "nodes": 345,
    {"armies": [1, -2, 0], "player": 1, "ply": 4, "nodes": 500}  "seconds": 0.02}
    {"armies": [1, -2, 0], "player": 1, "ply": 4, "seconds": 1}

All seconds are those that the processor has worked for this process, so that the load of the machine has no say.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path[0] = str(Path.cwd())

from arena.games.core import Player  # noqa: E402 - from the checkout in whose folder it runs
from arena.games.riskless import Armies, Riskless  # noqa: E402

TABLE_MB = 16
PACKAGES = ("bots/compiled", "bots/engine")
"""Where a state of the repository has its compiled engine: the first that is there."""


def engine(module: str) -> Any:
    """A module of the compiled engine of the checkout in whose folder this runs."""
    package = next(name for name in PACKAGES if Path(name).is_dir())
    return import_module(f"{package.replace('/', '.')}.{module}")


def search(searcher: Any, question: dict[str, Any]) -> dict[str, Any]:
    """The answer to a question for a move."""
    player = Player.MAXIE if question["player"] > 0 else Player.MINNIE
    position = Armies(tuple(question["armies"]), player, question["ply"])
    began = time.process_time()
    if "depth" in question:
        reports = list(searcher.deepen(position, max_depth=question["depth"]))
    elif "nodes" in question:
        reports = list(searcher.deepen(position, max_nodes=question["nodes"]))
    else:
        end = began + question["seconds"]
        reports = list(searcher.deepen(position, stop=lambda: time.process_time() >= end))
    seconds = time.process_time() - began
    last = reports[-1]
    depth = max(report.depth for report in reports if report.finished or not report.depth)
    return {
        "move": last.move,
        "value": last.value,
        "depth": depth,
        "nodes": last.nodes,
        "seconds": seconds,
    }


def main(*options: str) -> None:
    """Answer until nothing more is asked."""
    given = dict(option.split("=") for option in options)
    game = Riskless.from_setup(json.loads(sys.stdin.readline()))
    made, catalogue = engine("searcher"), engine("catalogue")
    settings = made.Settings(exact=given["exact"] == "yes", table_mb=TABLE_MB)
    searcher = made.Searcher(game, catalogue.weights_for(game, given["evaluator"]), settings)
    searcher.warm_up()
    for line in sys.stdin:
        question = json.loads(line)
        answer: dict[str, Any] = {}
        if "clear" in question:
            searcher.clear()
        else:
            answer = search(searcher, question)
        print(json.dumps(answer), flush=True)
    searcher.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
