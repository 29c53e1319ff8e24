from __future__ import annotations

import os
import time
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from arena.bots.api.bot import Bot, Clock, Ending, Match, ProgramCrash, Resign, assign_match, request_move
from arena.bots.engines.isolated import isolate_engine
from arena.bots.engines.registry import Engine, make_engine
from arena.games.core import AnyGame, Player
from arena.maps.game_on_map import make_game_on_map
from arena.protocol.codes import EndReason

LONG = Clock(30.0)


def engine(folder: Path, choose: str, more: str = "") -> Engine:
    file = folder / "own.py"
    file.write_text(
        "from arena.bots.api.bot import Bot, Resign\n\nclass Own(Bot):\n"
        f"    def choose(self, position, clock):\n        {choose}\n{more}"
    )
    return isolate_engine(make_engine(str(file)))


def seat_engine(made: Engine, game: AnyGame, seat: Player = Player.MAXIE) -> Bot:
    bot = made.make_bot()
    assign_match(bot, Match(game, seat, id="m"), Event())
    bot.prepare()
    return bot


@pytest.mark.parametrize("name", ["tictactoe", "riskless", "hexapawn"])
def test_it_plays_as_it_does_in_this_process(name: str) -> None:
    game = make_game_on_map(name, "path4") if name == "riskless" else make_game_on_map(name)
    made = make_engine("minimax:depth=2")
    inside, outside = seat_engine(made, game), seat_engine(isolate_engine(made), game)
    try:
        position: Any = game.start()
        for _ in range(4):
            move = request_move(outside, position, LONG, Event())
            assert move == request_move(inside, position, LONG, Event())
            assert inside.thinking is not None
            assert outside.thinking is not None
            assert (outside.thinking.depth, outside.thinking.value) == (
                inside.thinking.depth,
                inside.thinking.value,
            )
            position = game.play(position, move)
            if game.outcome(position) is not None:
                break
            reply = game.moves(position)[0]
            position = game.play(position, reply)
            if game.outcome(position) is not None:
                break
            for each in (inside, outside):
                each.opponent_moved(reply, position)
    finally:
        outside.close()


@pytest.mark.slow
def test_hooks_are_called_and_printed_text_is_no_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hooks = (
        "    def opponent_moved(self, move, position):\n        print('moved', move)\n"
        "    def ended(self, ending):\n        print('ended', ending.reason, ending.winner, ending.plies)\n"
        "    def close(self):\n        print('closed')\n"
    )
    made = engine(tmp_path, "print('at', self.match.opponent); return 4", hooks)
    bot = seat_engine(made, make_game_on_map("tictactoe"), Player.MINNIE)
    position = bot.game.play(bot.game.start(), 0)
    bot.opponent_moved(0, position)
    assert request_move(bot, position, LONG, Event()) == 4
    bot.ended(Ending(Player.MINNIE, EndReason.LINE, "three in a line", 1, position))
    bot.close()
    errors = capsys.readouterr().err
    assert [line.partition(": ")[2] for line in errors.splitlines()] == [
        "moved 0",
        "at maxie",
        "ended line minnie 1",
        "closed",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "choose", ["raise KeyError('lost it')", "import os; os.kill(os.getpid(), 9)", "return None"]
)
def test_a_failure_in_the_process_counts_as_a_crash(tmp_path: Path, choose: str) -> None:
    bot = seat_engine(engine(tmp_path, choose), make_game_on_map("tictactoe"))
    with pytest.raises(ProgramCrash, match=r"lost it|SIGKILL|not a move|ended \(exit code 1\)"):
        request_move(bot, bot.game.start(), LONG, Event())
    bot.close()


@pytest.mark.slow
def test_it_may_resign(tmp_path: Path) -> None:
    bot = seat_engine(engine(tmp_path, "raise Resign('enough')"), make_game_on_map("tictactoe"))
    with pytest.raises(Resign, match="enough"):
        request_move(bot, bot.game.start(), LONG, Event())
    bot.close()


def test_a_choose_that_never_returns_ends_with_its_match(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    hang = f"import os; open({str(pid)!r}, 'w').write(str(os.getpid()))\n        while True: pass"
    bot = seat_engine(engine(tmp_path, hang), make_game_on_map("tictactoe"))
    stop = Event()
    match_over = Thread(target=_set_when_written, args=(pid, stop))
    match_over.start()
    with pytest.raises(Resign, match="had not answered"):
        request_move(bot, bot.game.start(), LONG, stop)
    bot.close()
    match_over.join()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def _set_when_written(file: Path, stop: Event) -> None:
    end = time.monotonic() + 150
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < end
        time.sleep(0.01)
    stop.set()
