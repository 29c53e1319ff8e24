"""Programs that play tic-tac-toe over JSON Lines, for tests of the bots that run programs."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from threading import Event

from arena.bots.api.bot import Clock, Match, assign_match, request_move
from arena.bots.engines.from_program import ProgramBot
from arena.games.core import Player
from arena.games.tictactoe import TicTacToe

MATCH = Match(TicTacToe(), Player.MAXIE, id="match-1")
LONG = 200.0
"""Seconds on the clock of a program that must not lose on time."""

HONEST = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        print('{"ready": true}', flush=True)
    elif message["type"] == "turn":
        TURN
    else:
        print("over:", message["detail"], file=sys.stderr, flush=True)
"""


def program(turn: str = 'print(json.dumps({"move": message["legal"][-1]}), flush=True)') -> list[str]:
    return [sys.executable, "-c", HONEST.replace("TURN", turn)]


def seat_program(command: list[str], log_folder: Path | None = None) -> ProgramBot:
    bot = ProgramBot(command, log_folder)
    assign_match(bot, MATCH, Event())
    return bot


def choose(command: list[str], stop: Event | None = None) -> object:
    """Start a program, return its answer at the first ply, and end the program, even after an error."""
    bot = seat_program(command)
    try:
        bot.prepare()
        return request_move(bot, MATCH.game.start(), Clock(LONG, arrived=time.monotonic()), stop or Event())
    finally:
        bot.close()
