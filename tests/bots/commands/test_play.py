"""`arena play`, typed through a real pseudo-terminal."""

import sys
from pathlib import Path

import pexpect
import pytest

from arena.match.replay import verify_record
from arena.protocol.codes import EndReason
from arena.protocol.engines import EngineInfo, EnginesBySeat
from arena.protocol.record import read_records
from tests.bots.command_line import ARENA, environment, fails, heed_interrupts


def play(*arguments: str | Path, rows: int = 50) -> "pexpect.spawn[str]":
    """Yield a process of `arena play` on a terminal that does not echo the keys."""
    return pexpect.spawn(
        sys.executable,
        [*ARENA[1:], "play", *map(str, arguments)],
        env=environment(TERM="xterm"),
        encoding="utf-8",
        timeout=500,
        echo=False,
        dimensions=(rows, 120),
        preexec_fn=heed_interrupts,
    )


def wait_for_end(terminal: "pexpect.spawn[str]") -> tuple[str, int | None]:
    """Wait for the end of the process, and return the rest of its output and its exit code."""
    terminal.expect(pexpect.EOF)
    terminal.close()
    return terminal.before or "", terminal.exitstatus


def test_a_match_from_help_to_a_recorded_end(tmp_path: Path) -> None:
    record = tmp_path / "match.jsonl"
    terminal = play("greedy", "--game", "tictactoe", "--record", record)
    terminal.expect("You are maxie")
    terminal.expect("maxie > ")
    terminal.sendline("help")
    terminal.expect("undo +take back")
    terminal.sendline("moves")
    terminal.expect("a1, b1, c1, a2, b2, c2, a3, b3, c3")
    terminal.sendline("z9")
    terminal.expect("'z9' is not a cell: type a1 to c3")
    terminal.sendline("a1")
    terminal.expect(r"greedy plays b2 \(depth 1; value -?\d+; 8 nodes\)")
    terminal.expect("maxie > ")
    terminal.sendline("b2")
    terminal.expect("illegal move b2: b2 is taken by O; legal: b1, c1")
    terminal.sendline("b1")
    terminal.expect("greedy plays")
    terminal.expect("maxie > ")
    terminal.sendline("undo")
    terminal.expect("maxie > ")
    terminal.sendline("moves")
    terminal.expect("b1, c1, a2, c2, a3, b3, c3")
    terminal.sendline("resign")
    terminal.expect("You resign.")
    output, code = wait_for_end(terminal)
    assert f"The match is in {record}." in output.replace("\r\n", "")
    (kept,) = read_records(record)
    assert kept.engines == EnginesBySeat(minnie=EngineInfo("greedy", {"evaluator": "plain", "seed": "0"}, 1))
    assert code == 0
    (kept,) = read_records(record)
    assert verify_record(kept).ply_count == 2
    assert (kept.result.winner, kept.result.reason) == ("minnie", EndReason.RESIGNATION)
    assert (kept.players.maxie, kept.players.minnie) == ("you", "greedy")


LEFTMOST = """\
from arena.bots.api.bot import Bot
class Leftmost(Bot):
    def choose(self, position, clock):
        return self.game.moves(position)[0]
"""


@pytest.mark.parametrize(
    ("seat", "moves", "end"),
    [
        ("maxie", ["b2", "b1", "b3"], "You win: three in a line."),
        ("minnie", ["b2", "c2"], "You lose: three in a line."),
    ],
)
def test_a_match_is_won_or_lost(seat: str, moves: list[str], end: str, tmp_path: Path) -> None:
    bot = tmp_path / "leftmost.py"
    bot.write_text(LEFTMOST)
    terminal = play(bot, "--game", "tictactoe", "--seat", seat)
    for move in moves:
        terminal.expect(f"{seat} > ")
        terminal.sendline(move)
    output, code = wait_for_end(terminal)
    assert end in output
    assert code == 0


def test_the_end_of_the_input_leaves_the_match(tmp_path: Path) -> None:
    record = tmp_path / "match.jsonl"
    terminal = play("random", "--record", record)
    terminal.expect("maxie > ")
    terminal.sendeof()
    output, code = wait_for_end(terminal)
    assert "Bye: the match is unfinished." in output
    assert "Nothing is recorded" in output
    assert code == 0
    assert not record.exists()


def test_ctrl_c_stops_at_once() -> None:
    terminal = play("random")
    terminal.expect("maxie > ")
    output = ""
    for _ in range(5):
        # Python handles an interrupt that arrives between the prompt and the wait for a key only with the next one.
        terminal.sendintr()
        gone = terminal.expect([pexpect.EOF, pexpect.TIMEOUT], timeout=60) == 0
        output += terminal.before or ""
        if gone:
            break
    terminal.close()
    assert "Stopped: the match is unfinished." in output
    assert "Traceback" not in output
    assert terminal.exitstatus == 130


@pytest.mark.parametrize("typed", ["D4 > c4", "15 14"])
def test_a_move_of_riskless_is_typed_by_name_or_number(typed: str) -> None:
    terminal = play("random", "--map", "m2")
    terminal.expect("maxie > ")
    terminal.sendline(typed)
    terminal.expect("random plays a1")
    terminal.expect("maxie > ")
    terminal.sendline("quit")
    assert wait_for_end(terminal)[1] == 0


def test_a_terminal_with_room_shows_the_map_and_a_small_one_the_list() -> None:
    terminal = play("random", "--map", "m2", rows=60)
    terminal.expect("ply 0, maxie to move; armies: maxie 1, minnie 2, 80 win")
    terminal.expect("maxie > ")
    terminal.sendeof()
    wait_for_end(terminal)
    terminal = play("random", "--map", "m2", rows=20)
    terminal.expect(r"15 d4 +maxie +1 +roads to d3, c4")
    terminal.expect("maxie > ")
    terminal.sendeof()
    wait_for_end(terminal)


def test_a_bot_of_ones_own_that_fails_is_explained(tmp_path: Path) -> None:
    bot = tmp_path / "my_bot.py"
    bot.write_text(
        "from arena.bots.api.bot import Bot\nclass Mine(Bot):\n    def choose(self, position, clock):\n        return None\n"
    )
    terminal = play(bot, "--game", "tictactoe", "--seat", "minnie")
    output, code = wait_for_end(terminal)
    assert (
        "arena: my_bot made an illegal move at ply 0: choose returned None, which is not a move of tictactoe"
        in output.replace("\r\n", " ")
    )
    assert code == 1


def test_bad_input_is_reported_in_one_line(tmp_path: Path) -> None:
    fails("no engine is called 'chess'", 2, "play", "chess")
    fails("--game: no game is called 'chess'", 2, "play", "random", "--game", "chess")
    fails("--map: nowhere: no such map", 2, "play", "random", "--map", "nowhere")
    fails("--tc: 'soon' is not a time control", 2, "play", "random", "--tc", "soon")
    fails("--seat", 2, "play", "random", "--seat", "north")
    fails("--record: cannot write", 2, "play", "random", "--record", tmp_path / "no" / "such.jsonl")
