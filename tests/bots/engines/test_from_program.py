from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from queue import SimpleQueue
from threading import Event

import pytest

from arena.bots.api.bot import Clock, Ending, request_move
from arena.bots.api.engine_spec import BadSpec
from arena.bots.client.state.actions import ChooseMove
from arena.bots.client.worker import BotEnded, BotPrepared, BotWorker, MoveChosen, WorkerReport
from arena.bots.engines.from_program import ProgramBot, make_program_engine
from arena.games.core import Player
from tests.bots.engines.programs import LONG, MATCH, choose, program, seat_program
from tests.full_disk import limit_file_size


def test_a_program_plays_and_receives_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bot = seat_program(program(), tmp_path)
    bot.prepare()
    position = MATCH.game.start()
    for reply in (0, 1, None):
        move = request_move(bot, position, Clock(LONG), Event())
        assert move == MATCH.game.moves(position)[-1]
        position = MATCH.game.play(position, move)
        if reply is not None:
            bot.opponent_moved(reply, position := MATCH.game.play(position, reply))
    bot.ended(Ending(Player.MAXIE, None, "well done", 5, position))
    bot.close()
    assert (tmp_path / "match-1.log").read_text() == "over: well done\n"
    assert "match match-1: over: well done" in capsys.readouterr().err


def test_a_program_plays_on_if_its_log_is_full(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bot = seat_program(program(), tmp_path)
    with limit_file_size(5):
        bot.prepare()
        position = MATCH.game.start()
        assert request_move(bot, position, Clock(LONG), Event()) in MATCH.game.moves(position)
        bot.ended(Ending(Player.MAXIE, None, "well done", 1, position))
        bot.close()
    log = tmp_path / "match-1.log"
    assert log.read_text() == ""
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "match match-1: over: well done",
        f"match match-1: cannot write {log}: File too large; the rest is not kept there",
    ]


def test_the_turn_has_the_time_the_position_and_the_last_move() -> None:
    heard = (
        "keys = list(message); assert keys == ['type', 'ply', 'mine_ms', 'theirs_ms', 'increment_ms', "
        "'per_move', 'last', 'legal', 'position'], keys\n"
        "        assert message['mine_ms'] <= 200000 and message['last'] is None and message['ply'] == 0\n"
        "        assert message['position'] == {'cells': '.........'}\n"
        "        print(json.dumps({'move': 4, 'depth': 2, 'value': -1.5, 'line': [4, 0]}), flush=True)"
    )
    bot = seat_program(program(heard))
    bot.prepare()
    assert request_move(bot, MATCH.game.start(), Clock(LONG, arrived=time.monotonic()), Event()) == 4
    assert bot.thinking is not None
    assert (bot.thinking.depth, bot.thinking.value, bot.thinking.line) == (2, -1.5, (4, 0))
    bot.close()


def test_invalid_analysis_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert choose(program("""print('{"move": 4, "depth": "deep"}', flush=True)""")) == 4
    assert "is ignored" in capsys.readouterr().err


def test_each_match_has_its_own_process() -> None:
    reports: SimpleQueue[WorkerReport] = SimpleQueue()
    crash = "sys.exit(1) if message['ply'] else print('{\"move\": 0}', flush=True)"
    for _ in range(2):
        worker = BotWorker(lambda: ProgramBot(program(crash), None), MATCH, reports.put)
        assert reports.get(timeout=LONG) == BotPrepared("match-1")
        worker.request_move(ChooseMove("match-1", 0, MATCH.game.start(), Clock(LONG), None))
        answer = reports.get(timeout=LONG)
        assert isinstance(answer, MoveChosen)
        assert answer.move == 0
        worker.end_match(None)
        assert reports.get(timeout=LONG) == BotEnded("match-1")


@pytest.mark.parametrize(
    ("command", "reason"),
    [("", "give the program"), ("'", "is not a valid command line"), ("no-such-program-x", "not found")],
)
def test_invalid_commands(command: str, reason: str) -> None:
    with pytest.raises(BadSpec, match=reason):
        make_program_engine(command)


def test_an_engine_is_named_after_the_file(tmp_path: Path) -> None:
    file = tmp_path / "camel.pl"
    file.touch()
    assert make_program_engine(shlex.join([sys.executable, str(file)])).name == "camel"
    assert make_program_engine("/bin/sh -c true").name == "sh"
    assert make_program_engine(f"/bin/sh -c '# {300 * 'x'}'").name == "sh", (
        "a word longer than any file's name"
    )
