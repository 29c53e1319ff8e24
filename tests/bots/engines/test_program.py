from __future__ import annotations

import sys
import time
from queue import SimpleQueue
from threading import Event

import pytest

from arena.bots.api.bot import Clock, Ending, ProgramCrash, Resign, request_move
from arena.bots.client.state.actions import ChooseMove
from arena.bots.client.worker import BotEnded, BotFailed, BotPrepared, BotWorker, WorkerReport
from arena.bots.engines.from_program import ProgramBot
from arena.bots.engines.program import Program, ProgramFault
from tests.bots.engines.programs import LONG, MATCH, choose, program, seat_program


def crashes(message: str, command: list[str]) -> None:
    with pytest.raises(ProgramCrash, match=message):
        choose(command)


@pytest.mark.parametrize(
    ("turn", "message"),
    [
        ("sys.exit(3)", r"ended \(exit code 3\)$"),
        ("print('last words', file=sys.stderr); sys.exit(1)", "exit code 1.*standard error: last words"),
        ("import os; os.kill(os.getpid(), 11)", "killed by SIGSEGV"),
        (
            "import os; os.write(2, b'last words\\n'); os.close(1); import time; time.sleep(60)",
            "closed its standard output; last on its standard error: last words$",
        ),
        (
            "print('thinking...', flush=True)",
            r'wrote thinking\.\.\., which is not an answer; a valid one is \{"move": 0\}',
        ),
        ("print('[4]', flush=True)", r"wrote \[4\], which is not an answer"),
        ("print('x' * 70_000, flush=True)", "more than 65536 bytes: xxx"),
        ("sys.stdout.buffer.write(bytes([255, 10])); sys.stdout.flush()", "which is not an answer"),
        ("print('[' * 60_000, flush=True)", "which is not an answer"),
        ("print('{}', flush=True)", "not a move of tictactoe"),
        ("""print('{"move": 12}', flush=True)""", "not a move of tictactoe"),
    ],
)
def test_a_program_at_fault_is_reported_as_such(turn: str, message: str) -> None:
    crashes(message, program(turn))


def test_a_program_may_resign() -> None:
    with pytest.raises(Resign, match="the program resigns: 'too hard'"):
        choose(program("""print('{"resign": "too hard"}', flush=True)"""))


def test_a_start_is_answered_with_ready() -> None:
    echo = [sys.executable, "-c", "print(input())"]
    crashes("must answer `start` with", [sys.executable, "-c", "print('{}')"])
    crashes(r'`start` with \{"ready": true\}, not \{"type": "start", "match": .*…$', echo)
    crashes("exit code 0", [sys.executable, "-c", ""])


def test_a_program_may_be_ready_before_it_is_asked() -> None:
    """The speed of the machine decides whether the program writes its answer before or after the request."""
    running = Program(["sh", "-c", "echo '{\"ready\": true}'; cat"], lambda _line: None)
    try:
        deadline = time.monotonic() + LONG
        while not running._incoming_lines.qsize():  # until the program's first line has been read
            assert time.monotonic() < deadline
            time.sleep(0.005)
        assert running.request_answer({"type": "start"}, "{}", lambda: False) == {"ready": True}
        assert running.request_answer({"type": "turn"}, "{}", lambda: False) == {"type": "start"}
    finally:
        running.close(0)


def test_an_extra_line_is_a_fault() -> None:
    """A program that answers one turn with two lines is at fault when the next turn is requested."""
    twice = 'sys.stdout.write(\'{"move": 0}\\n{"move": 1}\\n\'); sys.stdout.flush()'
    bot = seat_program(program(twice))
    bot.prepare()
    assert request_move(bot, MATCH.game.start(), Clock(LONG), Event()) == 0
    assert bot._program is not None
    try:
        with pytest.raises(ProgramFault, match=r'an unexpected line: \{"move": 1\}'):
            for _ in range(1000):  # until the reader thread has queued the line
                time.sleep(0.005)
                bot._program._reject_unexpected_output()
    finally:
        bot.close()


def test_a_program_that_hangs_is_reported_and_killed(capsys: pytest.CaptureFixture[str]) -> None:
    """The program neither reads its input nor exits when the input ends."""
    hang = [sys.executable, "-c", "print('{\"ready\": true}', flush=True)\nwhile True: pass"]
    reports: SimpleQueue[WorkerReport] = SimpleQueue()
    worker = BotWorker(lambda: ProgramBot(hang, None), MATCH, reports.put)
    assert reports.get(timeout=LONG) == BotPrepared("match-1")
    worker.request_move(ChooseMove("match-1", 0, MATCH.game.start(), Clock(1.0), None))
    worker.end_match(Ending(None, None, "over", 0, None))
    assert isinstance(reports.get(timeout=LONG), BotFailed)
    assert reports.get(timeout=LONG) == BotEnded("match-1")
    assert "its answer to the turn at ply 0 was no longer needed" in capsys.readouterr().err


def test_a_program_that_floods_its_outputs_does_not_block() -> None:
    code = (
        "import sys, threading\n"
        "def flood():\n  while True: print('noise', file=sys.stderr)\n"
        "threading.Thread(target=flood, daemon=True).start()\n"
        "while True: print('{\"ready\": true}')"
    )
    crashes("unexpected line|not a move", [sys.executable, "-c", code])
