import sqlite3
from pathlib import Path

import anyio
import pytest

from protocol import record as records
from protocol.record import Record
from protocol.timecontrol import TimeControl
from server.fleet import BotRefused
from server.ladder import Ladder, cores, run_ladder
from server.ladder_file import BotPlan, LadderPlan
from server.store import StoreError
from tests.server.fleets import QUICK, ROOT, bot
from tests.server.matches import game_of


class Watch:
    """Keeps what it is told, and reads the record file at each end."""

    def __init__(self) -> None:
        self.notices: list[str] = []
        self.on_file: list[int] = []

    def played(self, ladder: Ladder, record: Record) -> None:
        on_file = list(records.read(ladder.record))
        assert on_file[-1] == record == ladder.records[-1]
        self.on_file.append(len(on_file))

    def notice(self, text: str) -> None:
        self.notices.append(text)


def ladder(record: Path, *bots: BotPlan, rounds: int = 1, concurrency: int = 0) -> Ladder:
    plan = LadderPlan(
        bots,
        event="test",
        game="tictactoe",
        time_control=TimeControl(5000),
        rounds=rounds,
        concurrency=concurrency,
        folder=ROOT,
    )
    return Ladder(plan, [game_of()], record)


def files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_every_match_is_in_the_file_before_it_is_told(tmp_path: Path) -> None:
    watch = Watch()
    played = ladder(tmp_path / "record.jsonl", bot("a"), bot("b"), bot("c"), concurrency=2)
    with anyio.fail_after(30):
        await run_ladder(played, watch, patience=QUICK)
    assert watch.on_file == [1, 2, 3, 4, 5, 6]
    assert not watch.notices
    assert not played.stopped
    assert {record.event for record in played.records} == {"test"}


async def test_records_are_added_to_a_file_and_a_database(tmp_path: Path) -> None:
    file, database = tmp_path / "record.jsonl", tmp_path / "arena.db"
    for _ in range(2):
        played = ladder(file, bot("a"), bot("b"))
        with anyio.fail_after(30):
            await run_ladder(played, Watch(), database=f"sqlite:///{database}", patience=QUICK)
    assert len(list(records.read(file))) == 4
    with sqlite3.connect(database) as store:
        kept = {match for (match,) in store.execute("select match from matches where record is not null")}
    store.close()
    assert kept == {record.match for record in records.read(file)}


async def test_enough_stops_it(tmp_path: Path) -> None:
    played = ladder(tmp_path / "record.jsonl", bot("a"), bot("b"), rounds=100, concurrency=1)
    with anyio.fail_after(30):
        await run_ladder(played, Watch(), enough=lambda: len(played.played) >= 3, patience=QUICK)
    assert len(played.played) == 3
    assert not played.stopped


async def test_what_cannot_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(BotRefused, match="bot b: no engine is called 'x'"):
        await run_ladder(ladder(tmp_path / "a.jsonl", bot("a"), bot("b", "misuse")), Watch(), patience=QUICK)
    with pytest.raises(StoreError):
        await run_ladder(
            ladder(tmp_path / "b.jsonl", bot("a"), bot("b")), Watch(), database="mysql://x", patience=QUICK
        )
    assert not files(tmp_path)  # no empty record is left
    with pytest.raises(OSError, match="No such file"):
        await run_ladder(ladder(tmp_path / "none" / "c.jsonl", bot("a"), bot("b")), Watch())


def test_concurrency_follows_the_cores_but_not_beyond_the_matches(tmp_path: Path) -> None:
    few = ladder(tmp_path / "r", bot("a"), bot("b"), concurrency=9)
    assert (few.matches, few.concurrency) == (2, 2)
    many = ladder(tmp_path / "r", bot("a"), bot("b"), rounds=500)
    assert (many.matches, many.concurrency) == (1000, cores())
    assert cores() >= 1
