"""Play an engine of another checkout by lines of JSON (docs/stdio.md).

    arena match alphabeta "exec:python benchmarks/engine/checkout.py ../earlier alphabeta"

All modules of the project are imported from that checkout: from its package `arena`, or, up to commit c0f4c8c, from its
top-level packages. Riskless only.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from pathlib import Path
from threading import Event
from typing import Any


class Checkout:
    """Imports modules of a checkout, whose path replaces this script's folder on `sys.path`."""

    def __init__(self, root: Path) -> None:
        sys.path[0] = str(root)
        self._package = "arena." if (root / "arena").is_dir() else ""

    def module(self, name: str) -> Any:
        """Import a module by its name without the package, such as `games.riskless`."""
        return import_module(self._package + name)


def seated(checkout: Checkout, engine: str, start: dict[str, Any]) -> Any:
    """Make a bot and prepare it for the match that `start` announces."""
    rules = checkout.module("games.riskless").Riskless.from_setup(start["setup"])
    match = checkout.module("bots.api.match").Match(
        rules,
        checkout.module("games.core").Player(start["seat"]),
        time_control=checkout.module("protocol.timecontrol").TimeControl.parse(start["time_control"]),
        margin_ms=start["margin_ms"],
        threads=start["threads"],
    )
    bot = checkout.module("bots.engines.registry").make_engine(engine).make()
    checkout.module("bots.api.bot").begin(bot, match)
    bot.prepare()
    return bot


def answer(checkout: Checkout, bot: Any, turn: dict[str, Any]) -> dict[str, Any]:
    """Choose the move of a turn."""
    clock = checkout.module("bots.api.clock").Clock(
        mine=turn["mine_ms"] / 1000,
        theirs=turn["theirs_ms"] / 1000,
        increment=turn["increment_ms"] / 1000,
        per_move=turn["per_move"],
        arrived=time.monotonic(),
    )
    position = bot.game.position_from_data(turn["position"])
    if turn["last"] is not None:
        bot.opponent_moved(bot.game.move_from_data(turn["last"]), position)
    move = checkout.module("bots.api.bot").ask(bot, position, clock, Event())
    thought = {
        key: value
        for key in ("depth", "value", "nodes")
        if (value := getattr(bot.thinking, key, None)) is not None
    }
    return {"move": bot.game.move_to_data(move), **thought}


def main(root: str, engine: str) -> None:
    """Play one match, until its end or the end of the input."""
    checkout = Checkout(Path(root).resolve())
    bot: Any = None
    for line in sys.stdin:
        told = json.loads(line)
        if told["type"] == "start":
            bot = seated(checkout, engine, told)
            print(json.dumps({"ready": True}), flush=True)
        elif told["type"] == "turn":
            print(json.dumps(answer(checkout, bot, told)), flush=True)
    if bot is not None:
        bot.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
