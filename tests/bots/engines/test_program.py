"""bots.engines.program and bots.engines.from_program: real programs that behave, and that do not."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from queue import SimpleQueue
from threading import Event

import pytest

from bots.api.bot import Clock, Ending, Match, Resign, ask, begin
from bots.api.options import BadSpec
from bots.client.state.actions import Choose
from bots.client.worker import Broke, Chosen, Ended, Prepared, Report, Worker
from bots.engines.from_program import ProgramBot, program_engine
from bots.engines.program import ProgramFault
from games.core import Player
from games.tictactoe import TicTacToe

MATCH = Match(TicTacToe(), Player.MAXIE, id="match-1")
LONG = 20.0

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


def seated(command: list[str], logs: Path | None = None) -> ProgramBot:
    bot = ProgramBot(command, logs)
    begin(bot, MATCH, Event())
    return bot


def choose(command: list[str], stop: Event | None = None) -> object:
    """What a program answers at the first ply; it is ended in any case."""
    bot = seated(command)
    try:
        bot.prepare()
        return ask(bot, MATCH.game.start(), Clock(LONG, arrived=time.monotonic()), stop or Event())
    finally:
        bot.close()


def resigns(told: str, command: list[str]) -> None:
    with pytest.raises(Resign, match=told):
        choose(command)


def test_a_program_plays_and_hears_of_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bot = seated(program(), tmp_path)
    bot.prepare()
    position = MATCH.game.start()
    for reply in (0, 1, None):
        move = ask(bot, position, Clock(LONG), Event())
        assert move == MATCH.game.moves(position)[-1]
        position = MATCH.game.play(position, move)
        if reply is not None:
            bot.opponent_moved(reply, position := MATCH.game.play(position, reply))
    bot.ended(Ending(Player.MAXIE, None, "well done", 5, position))
    bot.close()
    assert (tmp_path / "match-1.log").read_text() == "over: well done\n"
    assert "match match-1: over: well done" in capsys.readouterr().err


def test_the_turn_tells_time_position_and_the_last_move() -> None:
    heard = (
        "keys = list(message); assert keys == ['type', 'ply', 'mine_ms', 'theirs_ms', 'increment_ms', "
        "'per_move', 'last', 'legal', 'position'], keys\n"
        "        assert message['mine_ms'] <= 20000 and message['last'] is None and message['ply'] == 0\n"
        "        assert message['position'] == {'cells': '.........'}\n"
        "        print(json.dumps({'move': 4, 'depth': 2, 'value': -1.5, 'line': [4, 0]}), flush=True)"
    )
    bot = seated(program(heard))
    bot.prepare()
    assert ask(bot, MATCH.game.start(), Clock(LONG, arrived=time.monotonic()), Event()) == 4
    assert bot.thinking is not None
    assert (bot.thinking.depth, bot.thinking.value, bot.thinking.line) == (2, -1.5, (4, 0))
    bot.close()


def test_thinking_that_is_none_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert choose(program("""print('{"move": 4, "depth": "deep"}', flush=True)""")) == 4
    assert "left out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("turn", "told"),
    [
        ("sys.exit(3)", r"ended \(exit code 3\)$"),
        ("print('last words', file=sys.stderr); sys.exit(1)", "exit code 1.*standard error: last words"),
        ("import os; os.kill(os.getpid(), 11)", "killed by SIGSEGV"),
        ("import os; os.close(1); import time; time.sleep(60)", "closed its standard output"),
        (
            "print('thinking...', flush=True)",
            r'wrote thinking\.\.\., which is no answer; one is \{"move": 0\}',
        ),
        ("print('[4]', flush=True)", r"wrote \[4\], which is no answer"),
        ("print('x' * 70_000, flush=True)", "more than 65536 bytes: xxx"),
        ("sys.stdout.buffer.write(bytes([255, 10])); sys.stdout.flush()", "which is no answer"),
        ("print('[' * 60_000, flush=True)", "which is no answer"),
        ("print('{}', flush=True)", "no move of tictactoe"),
        ("""print('{"move": 12}', flush=True)""", "no move of tictactoe"),
        ("""print('{"resign": "too hard"}', flush=True)""", "the program resigns: 'too hard'"),
    ],
)
def test_a_program_at_fault_is_told_as_such(turn: str, told: str) -> None:
    resigns(told, program(turn))


def test_a_start_is_answered_with_ready() -> None:
    resigns("answered the start with", [sys.executable, "-c", "print('{}')"])
    resigns("exit code 0", [sys.executable, "-c", ""])


def test_an_extra_line_is_a_fault() -> None:
    """The third line is there before the second turn is asked: the second answer was read after it."""
    twice = 'sys.stdout.write(\'{"move": 0}\\n{"move": 1}\\n\'); sys.stdout.flush()'
    bot = seated(program(twice))
    bot.prepare()
    assert ask(bot, MATCH.game.start(), Clock(LONG), Event()) == 0
    assert bot._running is not None
    try:
        with pytest.raises(ProgramFault, match=r'a line that nobody asked for: \{"move": 1\}'):
            for _ in range(1000):  # the reader needs a moment
                time.sleep(0.005)
                bot._running._expect_silence()
    finally:
        bot.close()


def test_a_program_that_hangs_is_told_and_killed(capsys: pytest.CaptureFixture[str]) -> None:
    """It reads nothing either, and takes no notice of its end."""
    hang = [sys.executable, "-c", "print('{\"ready\": true}', flush=True)\nwhile True: pass"]
    told: SimpleQueue[Report] = SimpleQueue()
    worker = Worker(lambda: ProgramBot(hang, None), MATCH, told.put)
    assert told.get(timeout=LONG) == Prepared("match-1")
    worker.choose(Choose("match-1", 0, MATCH.game.start(), Clock(1.0), None))
    worker.finish(Ending(None, None, "over", 0, None))
    assert isinstance(told.get(timeout=LONG), Broke)
    assert told.get(timeout=LONG) == Ended("match-1")
    assert "nobody waited any more for its answer to the turn at ply 0" in capsys.readouterr().err


def test_one_that_floods_its_outputs_holds_nothing_up() -> None:
    code = (
        "import sys, threading\n"
        "def flood():\n  while True: print('noise', file=sys.stderr)\n"
        "threading.Thread(target=flood, daemon=True).start()\n"
        "while True: print('{\"ready\": true}')"
    )
    resigns("nobody asked for|no move", [sys.executable, "-c", code])


def test_each_match_has_its_own_process() -> None:
    told: SimpleQueue[Report] = SimpleQueue()
    crash = "sys.exit(1) if message['ply'] else print('{\"move\": 0}', flush=True)"
    for _ in range(2):
        worker = Worker(lambda: ProgramBot(program(crash), None), MATCH, told.put)
        assert told.get(timeout=LONG) == Prepared("match-1")
        worker.choose(Choose("match-1", 0, MATCH.game.start(), Clock(LONG), None))
        answer = told.get(timeout=LONG)
        assert isinstance(answer, Chosen)
        assert answer.move == 0
        worker.finish(None)
        assert told.get(timeout=LONG) == Ended("match-1")


@pytest.mark.parametrize(
    ("command", "told"),
    [("", "write the program"), ("'", "is no command line"), ("no-such-program-x", "there is no program")],
)
def test_a_command_that_is_none(command: str, told: str) -> None:
    with pytest.raises(BadSpec, match=told):
        program_engine(command)


def test_an_engine_is_named_after_the_file(tmp_path: Path) -> None:
    file = tmp_path / "camel.pl"
    file.touch()
    assert program_engine(f"{sys.executable} {file}").name == "camel"
    assert program_engine("/bin/sh -c true").name == "sh"
