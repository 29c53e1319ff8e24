"""Engine made from a program in any language that speaks JSON Lines over stdin and stdout (docs/stdio.md)."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import time
from collections.abc import Mapping
from io import FileIO
from pathlib import Path
from typing import Any

from arena import user_paths
from arena.atomic_file import append_line
from arena.bots.api.bot import Bot, Clock, Ending, ProgramCrash, Resign, Thinking
from arena.bots.api.engine_spec import BadSpec
from arena.bots.engines.program import Program, ProgramFault, RequestCancelled, make_printable_excerpt
from arena.bots.engines.registry import Engine

READY_ANSWER = '{"ready": true}'
"""Answer that the program must give to the message `start`, the first of each match."""
GRACEFUL_EXIT_TIMEOUT_SECONDS = 0.3
"""Seconds in which the program can exit by itself after the match, before it is killed."""
MAX_KEPT_STDERR_LINES = 1000
"""Maximum number of lines of a program's standard error kept for a match. Further lines are read, but not kept."""


def make_program_engine(command: str, log_folder: Path | None = None) -> Engine:
    """Return an engine that runs `command` in a new process for each match.

    log_folder  folder for the standard error of each match's program, as MATCH.log; None for no files

    Raises BadSpec if `command` is not a valid command line, or its program does not exist.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadSpec(f"exec: {command!r:.100} is not a valid command line: {error}") from None
    if not words:
        raise BadSpec(
            "exec: give the program and its arguments, e.g. exec:perl my_bot.pl or --exec 'perl my_bot.pl'"
        )
    if shutil.which(words[0]) is None:
        raise BadSpec(f"exec: program {words[0]!r:.100} not found: give its path, or add it to the PATH")
    # In `perl my_bot.pl` the file has the distinctive name, not the interpreter.
    file = next((word for word in words[1:] if user_paths.is_file(word)), words[0])
    return Engine(Path(file).stem[:64], command, lambda: ProgramBot(words, log_folder))


class ProgramBot(Bot):
    """Bot that forwards every request for a move to a program, and plays the move in the program's answer."""

    def __init__(self, command: list[str], log_folder: Path | None) -> None:
        self._command = command
        self._log_folder = log_folder
        self._log: FileIO | None = None
        self._logged_line_count = 0
        self._program: Program | None = None
        self._last_opponent_move: Any = None

    def prepare(self) -> None:
        match = self.match
        if self._log_folder is not None:
            self._log = (self._log_folder / f"{match.id}.log").open("wb", buffering=0)
        try:
            self._program = Program(self._command, self._keep_stderr_line)
        except ProgramFault as fault:
            raise ProgramCrash(str(fault)) from None
        start_message = {
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
        answer = self._request_answer(self._program, start_message, READY_ANSWER)
        if answer.get("ready") is not True:
            raise ProgramCrash(
                f"the program must answer `start` with {READY_ANSWER}, not {make_printable_excerpt(json.dumps(answer).encode())}"
            )

    def opponent_moved(self, move: Any, position: Any) -> None:  # noqa: ARG002
        self._last_opponent_move = self.game.move_to_data(move)

    def choose(self, position: Any, clock: Clock) -> Any:
        if self._program is None:
            raise AssertionError("call prepare() before choose()")
        legal_moves = [self.game.move_to_data(move) for move in self.game.moves(position)]
        turn_message = {
            "type": "turn",
            "ply": self.game.ply(position),
            "mine_ms": int(1000 * clock.left(time.monotonic())),
            "theirs_ms": int(1000 * clock.theirs),
            "increment_ms": int(1000 * clock.increment),
            "per_move": clock.per_move,
            "last": self._last_opponent_move,
            "legal": legal_moves,
            "position": self.game.position_to_data(position),
        }
        answer = self._request_answer(self._program, turn_message, json.dumps({"move": legal_moves[0]}))
        try:
            move = self.game.move_from_data(answer.get("move"))
        except ValueError as error:
            raise ProgramCrash(
                f"the program answered {answer!r:.100}, which is not a move of {self.game.name}: {error}"
            ) from None
        self._set_thinking(answer)
        return move

    def ended(self, ending: Ending) -> None:
        if self._program is not None:
            winner = None if ending.winner is None else ending.winner.value
            reason = None if ending.reason is None else ending.reason.value
            self._program.send({"type": "end", "winner": winner, "reason": reason, "detail": ending.detail})

    def close(self) -> None:
        if self._program is not None:
            self._program.close(GRACEFUL_EXIT_TIMEOUT_SECONDS)
        if self._log is not None:
            self._log.close()

    def _request_answer(
        self, program: Program, message: Mapping[str, object], example: str
    ) -> dict[str, Any]:
        try:
            answer = program.request_answer(message, example, lambda: self.stopped)
        except RequestCancelled as late:
            # Logged too, because the match is over, and nobody reads the reason of the resignation.
            request_text = f"the turn at ply {message['ply']}" if "ply" in message else "the start"
            self._print_stderr_line(f"{late} when its answer to {request_text} was no longer needed")
            raise Resign(str(late)) from None
        except ProgramFault as fault:
            raise ProgramCrash(str(fault)) from None
        if "resign" in answer:
            raise Resign(f"the program resigns: {answer['resign']!r:.100}")
        return answer

    def _set_thinking(self, answer: Mapping[str, Any]) -> None:
        """Set the attribute `thinking` to the analysis in a program's answer, if the answer has a valid analysis."""
        analysis_fields = {key: answer.get(key) for key in ("depth", "value", "nodes")}
        try:
            line = tuple(self.game.move_from_data(move) for move in answer.get("line") or ())
            for name, field in analysis_fields.items():
                if field is not None and type(field) not in (int, float):
                    raise ValueError(f"{name} must be a number, not {field!r:.40}")  # noqa: TRY301 - the handler reports it like any other fault
        except (TypeError, ValueError) as error:
            self._print_stderr_line(f"the analysis in the program's answer is ignored: {error}")
            return
        if line or any(field is not None for field in analysis_fields.values()):
            self.thinking = Thinking(line=line, **analysis_fields)

    def _keep_stderr_line(self, line: str) -> None:
        """Print a line of the program's standard error, and append it to the match's log file.

        After MAX_KEPT_STDERR_LINES lines, drop the line. `Program` calls this method in a separate thread.
        """
        self._logged_line_count += 1
        if self._logged_line_count <= MAX_KEPT_STDERR_LINES:
            self._print_stderr_line(line)
            if self._log is not None:
                self._append_to_log(self._log, line)
        elif self._logged_line_count == MAX_KEPT_STDERR_LINES + 1:
            self._print_stderr_line(
                f"more than {MAX_KEPT_STDERR_LINES} lines on its standard error; the rest is not kept"
            )

    def _append_to_log(self, log: FileIO, line: str) -> None:
        """Append a line to the log file. If that fails, print why and close the file: a full disk must not end the match."""
        try:
            append_line(log, line)
        except OSError as error:
            self._print_stderr_line(f"cannot write {log.name}: {error.strerror}; the rest is not kept there")
            log.close()
            self._log = None

    def _print_stderr_line(self, line: str) -> None:
        print(f"match {self.match.id:.8}: {line}", file=sys.stderr, flush=True)  # noqa: T201 - for the bot's author
