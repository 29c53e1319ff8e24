"""An engine from any program, by lines of JSON on its standard input and output: docs/stdio.md."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from arena.bots.api.bot import Bot, Clock, Crash, Ending, Resign, Thinking
from arena.bots.api.options import BadSpec
from arena.bots.engines.program import Program, ProgramFault, Unanswered
from arena.bots.engines.registry import Engine

READY = '{"ready": true}'
PATIENCE = 0.3
"""Seconds that a program may take to end by itself."""
MOST_LINES = 1000
"""Lines of standard error that are kept of a match; the rest is read and dropped."""


def program_engine(command: str, logs: Path | None = None) -> Engine:
    """The engine that a command line runs, one process for each match. Raises BadSpec.

    logs: a folder that gets what each match's program writes to its standard error, as MATCH.log
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadSpec(f"--exec: {command!r:.100} is no command line: {error}") from None
    if not words:
        raise BadSpec("--exec: write the program and its arguments, as in --exec 'perl my_bot.pl'")
    if shutil.which(words[0]) is None:
        raise BadSpec(f"--exec: there is no program {words[0]!r:.100}: give its path, or put it in the PATH")
    # In `perl my_bot.pl` it is the file that has a name of its own.
    named = next((word for word in words[1:] if Path(word).is_file()), words[0])
    return Engine(Path(named).stem[:64], command, lambda: ProgramBot(words, logs))


class ProgramBot(Bot):
    """Passes every turn on to a program, and its answer back."""

    def __init__(self, command: list[str], logs: Path | None) -> None:
        self._command = command
        self._logs = logs
        self._log: TextIO | None = None
        self._lines = 0
        self._running: Program | None = None
        self._last: Any = None

    def prepare(self) -> None:
        match = self.match
        if self._logs is not None:
            self._log = (self._logs / f"{match.id}.log").open("w", encoding="utf-8")
        try:
            self._running = Program(self._command, self._heard)
        except ProgramFault as fault:
            raise Crash(str(fault)) from None
        start = {
            "type": "start",
            "match": match.id,
            "game": self.game.name,
            "seat": match.seat.value,
            "opponent": match.opponent,
            "time_control": str(match.time_control),
            "margin_ms": match.margin_ms,
            "threads": match.threads,
            "setup": self.game.setup(),
        }
        answer = self._ask(self._running, start, READY)
        if answer.get("ready") is not True:
            raise Crash(f"the program answered the start with {answer!r:.100}, not with {READY}")

    def opponent_moved(self, move: Any, position: Any) -> None:  # noqa: ARG002
        self._last = self.game.move_to_data(move)

    def choose(self, position: Any, clock: Clock) -> Any:
        if self._running is None:
            raise AssertionError("prepare comes before choose")
        legal = [self.game.move_to_data(move) for move in self.game.moves(position)]
        turn = {
            "type": "turn",
            "ply": self.game.ply(position),
            "mine_ms": int(1000 * clock.left(time.monotonic())),
            "theirs_ms": int(1000 * clock.theirs),
            "increment_ms": int(1000 * clock.increment),
            "per_move": clock.per_move,
            "last": self._last,
            "legal": legal,
            "position": self.game.position_to_data(position),
        }
        answer = self._ask(self._running, turn, json.dumps({"move": legal[0]}))
        try:
            move = self.game.move_from_data(answer.get("move"))
        except ValueError as error:
            raise Crash(
                f"the program answered {answer!r:.100}, no move of {self.game.name}: {error}"
            ) from None
        self._think(answer)
        return move

    def ended(self, ending: Ending) -> None:
        if self._running is not None:
            winner = None if ending.winner is None else ending.winner.value
            reason = None if ending.reason is None else ending.reason.value
            self._running.tell({"type": "end", "winner": winner, "reason": reason, "detail": ending.detail})

    def close(self) -> None:
        if self._running is not None:
            self._running.close(PATIENCE)
        if self._log is not None:
            self._log.close()

    def _ask(self, program: Program, message: Mapping[str, object], example: str) -> dict[str, Any]:
        try:
            answer = program.ask(message, example, lambda: self.stopped)
        except Unanswered as late:
            # The match is over, so that nobody reads why this bot would resign it.
            where = f"the turn at ply {message['ply']}" if "ply" in message else "the start"
            self._say(f"{late} when nobody waited any more for its answer to {where}")
            raise Resign(str(late)) from None
        except ProgramFault as fault:
            raise Crash(str(fault)) from None
        if "resign" in answer:
            raise Resign(f"the program resigns: {answer['resign']!r:.100}")
        return answer

    def _think(self, answer: Mapping[str, Any]) -> None:
        """Keep what the program tells of its thinking with the move."""
        figures = {key: answer.get(key) for key in ("depth", "value", "nodes")}
        try:
            line = tuple(self.game.move_from_data(each) for each in answer.get("line") or ())
            if not all(each is None or type(each) in (int, float) for each in figures.values()):
                raise ValueError("depth, value and nodes are numbers")  # noqa: TRY301 - the handler tells it as any other fault
        except (TypeError, ValueError) as error:
            self._say(f"what the program tells of its thinking is left out: {error}")
            return
        if line or any(each is not None for each in figures.values()):
            self.thinking = Thinking(line=line, **figures)

    def _heard(self, line: str) -> None:
        """Called in a thread of the program's, with a line of its standard error."""
        self._lines += 1
        if self._lines <= MOST_LINES:
            self._say(line)
            if self._log is not None:
                self._log.write(f"{line}\n")
                self._log.flush()
        elif self._lines == MOST_LINES + 1:
            self._say(f"more than {MOST_LINES} lines on its standard error; the rest is not kept")

    def _say(self, line: str) -> None:
        print(f"match {self.match.id:.8}: {line}", file=sys.stderr, flush=True)  # noqa: T201 - for its author
