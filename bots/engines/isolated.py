"""Engine that plays each match in a separate process, so that a hanging bot can be killed.

The processes communicate in JSON Lines (docs/stdio.md). This command plays one match with the engine SPEC over stdin and
stdout. What the engine itself prints goes to standard error:

    python -m arena.bots.engines.isolated SPEC
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import IO, Any

from arena.bots.api.bot import Bot, Clock, Ending, Match, Resign, assign_match, request_move
from arena.bots.engines.from_program import READY_ANSWER, ProgramBot
from arena.bots.engines.registry import Engine, make_engine
from arena.games.catalogue import make_game
from arena.games.core import Player
from arena.protocol.codes import EndReason
from arena.protocol.timecontrol import TimeControl

JsonMessage = dict[str, Any]


def isolate_engine(engine: Engine, log_folder: Path | None = None) -> Engine:
    """Return an engine that plays each match of `engine` in a separate process.

    log_folder  folder for the standard error of each match's process, as MATCH.log; None for no files
    """
    command = [sys.executable, "-P", "-m", "arena.bots.engines.isolated", engine.spec]
    return Engine(engine.name, engine.spec, lambda: ProgramBot(command, log_folder), engine.parsed_spec)


def run_bot_by_messages(bot: Bot, messages: Iterator[JsonMessage], output: IO[str]) -> None:
    """Let `bot` play one match, and close the bot.

    Any exception raised by the bot propagates, except Resign, for which the answer `resign` is written.

    messages   messages to the bot in order, as decoded JSON (docs/stdio.md)
    output     file to which the bot's answers are written
    """

    def send(message: JsonMessage) -> None:
        output.write(json.dumps(message) + "\n")
        output.flush()

    match: Match | None = None
    position: Any = None
    try:
        for message in messages:
            match message["type"]:
                case "start":
                    match = _parse_match(message)
                    assign_match(bot, match)
                    bot.prepare()
                    send(json.loads(READY_ANSWER))
                case "turn" if match is not None:
                    position = match.game.position_from_data(message["position"])
                    send(_answer_turn(bot, match, position, message))
                case "end" if match is not None:
                    winner = Player(message["winner"]) if message["winner"] else None
                    reason = EndReason(message["reason"]) if message["reason"] else None
                    plies = match.game.ply(position) if position is not None else 0
                    bot.ended(Ending(winner, reason, message["detail"], plies, position))
    except Resign as resignation:
        send({"resign": str(resignation)})
    finally:
        bot.close()


def _parse_match(start: JsonMessage) -> Match:
    seat, opponent = Player(start["seat"]), start["opponent"]
    names = {seat.value: "me", seat.opponent.value: opponent}
    return Match(
        game=make_game(start["game"], start["setup"]),
        seat=seat,
        id=start["match"],
        maxie=names["maxie"],
        minnie=names["minnie"],
        time_control=TimeControl.parse(start["time_control"]),
        margin_ms=start["margin_ms"],
        threads=start["threads"],
    )


def _answer_turn(bot: Bot, match: Match, position: Any, turn: JsonMessage) -> JsonMessage:
    arrived, game = time.monotonic(), match.game
    if turn["last"] is not None:
        bot.opponent_moved(game.move_from_data(turn["last"]), position)
    clock = Clock(
        mine=turn["mine_ms"] / 1000,
        theirs=turn["theirs_ms"] / 1000,
        increment=turn["increment_ms"] / 1000,
        per_move=turn["per_move"],
        margin=match.margin_ms / 1000,
        arrived=arrived,
    )
    move = request_move(bot, position, clock, Event())
    answer: JsonMessage = {"move": game.move_to_data(move)}
    if bot.thinking is not None:
        thinking = bot.thinking
        analysis_fields = {"depth": thinking.depth, "value": thinking.value, "nodes": thinking.nodes}
        answer |= {key: value for key, value in analysis_fields.items() if value is not None}
        answer["line"] = [game.move_to_data(move) for move in thinking.line]
    return answer


def main() -> None:
    """Play one match over standard input and output, with the engine whose spec is the first command-line argument."""
    # The bot's own output must not mix with the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    run_bot_by_messages(make_engine(sys.argv[1]).make_bot(), map(json.loads, sys.stdin), answers)


if __name__ == "__main__":
    main()
