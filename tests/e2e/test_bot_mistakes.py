"""Messages for the author of a faulty bot, also in `arena match`, where the bot is a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.processes.bot_process import MAX_REPORTED_RESIGNATIONS
from tests.bots.command_line import arena

HEAD = (
    "from arena.bots.api.bot import Bot, Resign\n\nclass Mine(Bot):\n    def choose(self, position, clock):\n"
)


@pytest.mark.parametrize(
    ("body", "how", "told"),
    [
        ("        return {}['x']\n", "crashed", ['mine.py", line 5, in choose', "KeyError: 'x'"]),
        ("        raise Resign('I have seen enough')\n", "resigned", ["I have seen enough"]),
    ],
    ids=["an exception", "on purpose"],
)
def test_a_match_shows_why_a_bot_resigned(
    body: str, how: str, told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(HEAD + body)
    rounds = MAX_REPORTED_RESIGNATIONS + 1
    result = arena(
        *("match", "mine.py", "random", "--game", "tictactoe", "--concurrency", "1"),
        *("--rounds", str(rounds), "--margin", "15000", "--sprt", "elo0=0,elo1=1"),
    )
    assert result.code == 0, result
    assert result.stderr.count("random beats mine in") == 2 * rounds
    assert result.stderr.count(f"bot mine {how}") == MAX_REPORTED_RESIGNATIONS
    for each in told:
        assert result.stderr.count(each) >= MAX_REPORTED_RESIGNATIONS, result.stderr
    assert "worker.py" not in result.stderr
    # A test of strength that stands on crashes says so.
    said = f"mine crashed in {2 * rounds} of {2 * rounds} matches: the result says little about their play"
    assert (said in " ".join(result.stdout.split())) == (how == "crashed"), result.stdout
