from pathlib import Path

from cores import cores
from tests.ladder.test_play import ladder
from tests.server.fleets import bot


def test_concurrency_follows_the_cores_but_not_beyond_the_matches(tmp_path: Path) -> None:
    few = ladder(tmp_path / "r", bot("a"), bot("b"), concurrency=9)
    assert (few.matches, few.concurrency) == (2, 2)
    many = ladder(tmp_path / "r", bot("a"), bot("b"), rounds=500)
    assert (many.matches, many.concurrency) == (1000, len(cores()))
    assert cores()
