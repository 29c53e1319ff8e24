"""A compiled search as a process of its own, so that two states of the repository can be held against each other.

    cd CHECKOUT && .venv/bin/python …/benchmarks/engine/worker.py MAP.toml exact=yes evaluator=features

It is run by the Python of the checkout whose engine is meant, in its folder: all that it imports is that checkout's. Each
line that it reads is a JSON object, and so is each that it answers:

    {"clear": true}                                             {}
    {"armies": [1, -2, 0], "player": 1, "ply": 4, "depth": 6}   {"move": [0, 1], "value": 12, "depth": 6, "nodes": 345,
    {"armies": [1, -2, 0], "player": 1, "ply": 4, "seconds": 1}  "seconds": 0.02}

The seconds of a search to a depth are those of the processor, so that the load of the machine has no say.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path[0] = str(Path.cwd())

from bots.compiled.catalogue import weights_for  # noqa: E402 - from the checkout in whose folder it runs
from bots.compiled.searcher import Searcher, Settings  # noqa: E402
from games.core import Player  # noqa: E402
from games.riskless import Armies, Riskless  # noqa: E402
from maps.loader import load_map  # noqa: E402

TABLE_MB = 16


def search(searcher: Any, question: dict[str, Any]) -> dict[str, Any]:
    """The answer to a question for a move."""
    player = Player.MAXIE if question["player"] > 0 else Player.MINNIE
    position = Armies(tuple(question["armies"]), player, question["ply"])
    if "depth" in question:
        start = time.thread_time()
        reports = list(searcher.deepen(position, max_depth=question["depth"]))
        seconds = time.thread_time() - start
    else:
        began = time.perf_counter()
        end = began + question["seconds"]
        reports = list(searcher.deepen(position, stop=lambda: time.perf_counter() >= end))
        seconds = time.perf_counter() - began
    last = reports[-1]
    depth = max(report.depth for report in reports if report.finished or not report.depth)
    return {
        "move": last.move,
        "value": last.value,
        "depth": depth,
        "nodes": last.nodes,
        "seconds": seconds,
    }


def main(map: str, *options: str) -> None:
    """Answer until nothing more is asked."""
    given = dict(option.split("=") for option in options)
    game = Riskless(load_map(map))
    settings = Settings(exact=given["exact"] == "yes", table_mb=TABLE_MB)
    searcher: Any = Searcher(game, weights_for(game, given["evaluator"]), settings)
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
