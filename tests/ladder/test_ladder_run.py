import errno
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from arena.ladder.bot_pool import BotNotStarted
from arena.ladder.ladder import Ladder
from arena.ladder.ladder_run import run_ladder
from arena.ladder.plan import BotPlan, LadderPlan
from arena.ladder.record_file import RecordFile
from arena.match.replay import verify_record
from arena.protocol import record as records
from arena.protocol.adjudication import Adjudication
from arena.protocol.codes import EndReason
from arena.protocol.record import Record
from arena.protocol.timecontrol import TimeControl
from arena.rating.standings import make_standings
from arena.server.store.aggregates.match_counting import add_new_matches_to_aggregates
from arena.server.store.database import open_store
from arena.server.store.errors import StoreError
from arena.server.store.ladders import CannotResumeLadder
from arena.server.store.packing import unpack_record
from arena.server.store.queries import load_event_table
from tests.server.fleets import QUICK, ROOT, bot
from tests.server.matches import game_of


class RecordingObserver:
    """Observer that keeps the notices, and reads the record file after each match."""

    def __init__(self) -> None:
        self.notices: list[str] = []
        self.on_file: list[int] = []

    def show_address(self, ladder: Ladder, url: str) -> None:
        pass

    def show_match(self, ladder: Ladder, record: Record) -> None:
        assert ladder.record_file is not None
        on_file = list(records.read_records(ladder.record_file))
        assert on_file[-1] == record == ladder.records[-1]
        self.on_file.append(len(on_file))

    def show_notice(self, text: str) -> None:
        self.notices.append(text)


class StoreCopier(RecordingObserver):
    """Observer that also copies the ladder's temporary store after each match."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.copy = folder / "copy.db"

    def show_match(self, ladder: Ladder, record: Record) -> None:
        super().show_match(ladder, record)
        [file] = self.folder.glob("arena-*/arena.db")
        with closing(sqlite3.connect(file)) as store, closing(sqlite3.connect(self.copy)) as copy:
            store.backup(copy)


def ladder(
    record: Path, *bots: BotPlan, rounds: int = 1, concurrency: int = 0, format: str = "round-robin"
) -> Ladder:
    plan = LadderPlan(
        bots,
        event_name="test",
        game="tictactoe",
        time_control=TimeControl(120_000),
        rounds=rounds,
        concurrency=concurrency,
        format=format,
        bot_folder=ROOT,
    )
    return Ladder(plan, [game_of()], record, restart_policy=QUICK)


class ShortLadder(Ladder):
    """Ladder whose test is decided after `enough` matches."""

    enough = 0

    def is_sprt_decided(self) -> bool:
        return len(self.played_matches) >= self.enough


def short_ladder(enough: int, made: Ladder) -> Ladder:
    short = ShortLadder(
        made.plan, made.games_by_start_position, made.record_file, restart_policy=made.restart_policy
    )
    short.enough = enough
    return short


def files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_every_match_is_in_the_file_before_it_is_reported_and_the_page_has_the_bracket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    watch = StoreCopier(tmp_path)
    finished_ladder = ladder(
        tmp_path / "record.jsonl", bot("a"), bot("b"), bot("c"), concurrency=2, format="knockout"
    )
    with anyio.fail_after(500):
        await run_ladder(finished_ladder, watch)
    assert watch.on_file == list(range(1, len(finished_ladder.played_matches) + 1))
    async with open_store(f"sqlite:///{watch.copy}") as engine:
        await add_new_matches_to_aggregates(engine)
        table = await load_event_table(engine, "test")
    assert table is not None
    (semifinal,), (final,) = table.bracket
    assert (semifinal.first_bot, semifinal.second_bot) == ("b", "c")
    assert (final.first_bot, final.second_bot) == ("a", semifinal.winning_bot)
    assert [row.knockout_stage for row in table.rows[1:]] == ["final", "semifinal"]
    assert not watch.notices
    assert not finished_ladder.is_stopped
    assert {record.event for record in finished_ladder.records} == {"test"}


async def test_adjudicated_matches_have_valid_records(tmp_path: Path) -> None:
    rules = Adjudication(limit=2)
    file, url = tmp_path / "record.jsonl", f"sqlite:///{tmp_path / 'arena.db'}"
    finished_ladder = ladder(file, bot("a"), bot("b"))
    finished_ladder.plan = replace(finished_ladder.plan, adjudication=rules)
    with anyio.fail_after(500):
        await run_ladder(finished_ladder, RecordingObserver(), database_url=url)
    finished = list(records.read_records(file))
    assert len(finished) == 2
    for record in finished:
        verify_record(record)
        assert record.result.reason is EndReason.ADJUDICATED
        assert len(record.moves) == 2
    other = ladder(file, bot("a"), bot("b"))
    with pytest.raises(CannotResumeLadder, match=f"adjudication was {rules}, now repetition=3"):
        await run_ladder(other, RecordingObserver(), database_url=url)


async def test_records_are_added_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "record.jsonl"
    for _ in range(2):
        with anyio.fail_after(500):
            await run_ladder(ladder(file, bot("a"), bot("b")), RecordingObserver())
    assert len(list(records.read_records(file))) == 4


@contextmanager
def full_disk_after(record_count: int) -> Iterator[None]:
    """Let only the first `record_count` records be written. The run in the block must end with the error of the next."""
    append, written = RecordFile.append_record, list[Record]()

    def append_or_fail(file: RecordFile, record: Record) -> None:
        if len(written) == record_count:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        append(file, record)
        written.append(record)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(OSError, match="No space left on device"):
        patch.setattr(RecordFile, "append_record", append_or_fail)
        yield


@pytest.mark.parametrize("written_count", [0, 1])
async def test_a_record_that_cannot_be_written_ends_the_event_until_it_is_resumed(
    tmp_path: Path, written_count: int
) -> None:
    file, url = tmp_path / "record.jsonl", f"sqlite:///{tmp_path / 'arena.db'}"
    watch, stopped = RecordingObserver(), ladder(file, bot("a"), bot("b"), concurrency=1)
    with anyio.fail_after(500), full_disk_after(written_count):
        await run_ladder(stopped, watch, database_url=url)
    assert len(stopped.records) == len(watch.on_file) == written_count
    assert (len(list(records.read_records(file))) if file.exists() else 0) == written_count
    with anyio.fail_after(500):
        await run_ladder(ladder(file, bot("a"), bot("b")), RecordingObserver(), database_url=url)
    assert len(list(records.read_records(file))) == 2


def in_store(database: Path) -> dict[str, str | None]:
    """Return the record of each match in a store; None for a match without one."""
    query = "select match, packed from matches left join records on records.number = matches.number"
    with closing(sqlite3.connect(database)) as store:
        rows = list(store.execute(query))
    return {match: packed and unpack_record(packed) for match, packed in rows}


async def test_an_event_that_is_over_is_only_reported_again(tmp_path: Path) -> None:
    file, database = tmp_path / "record.jsonl", tmp_path / "arena.db"
    tables = []
    for _ in range(2):
        finished_ladder = ladder(file, bot("a"), bot("b"))
        with anyio.fail_after(500):
            await run_ladder(finished_ladder, RecordingObserver(), database_url=f"sqlite:///{database}")
        tables.append(make_standings(finished_ladder.bot_names, finished_ladder.records))
    assert tables[0] == tables[1]
    written = [record.match for record in records.read_records(file)]
    assert len(written) == len(set(written)) == 2
    assert set(in_store(database)) == set(written)


async def test_a_stopped_event_is_resumed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'arena.db'}"
    bots = [bot("a"), bot("b"), bot("c")]

    stopped = short_ladder(5, ladder(tmp_path / "1.jsonl", *bots, rounds=3))
    with anyio.fail_after(500):
        await run_ladder(stopped, RecordingObserver(), database_url=url)
    # a match that was in play when the ladder was killed
    with closing(sqlite3.connect(tmp_path / "arena.db")) as store, store:
        store.execute("update ladders set finished = null")
        store.execute(
            "insert into matches (match, event, game, maxie, minnie, terms, started, rated)"
            " values ('x', 'test', 'tictactoe', 'a', 'b', '{}', '2026-01-01T00:00:00Z', 0)"
        )
    watch = RecordingObserver()
    again = ladder(tmp_path / "2.jsonl", *bots, rounds=3)
    with anyio.fail_after(500):
        await run_ladder(again, watch, database_url=url)
    assert 5 <= again.resumed_match_count < 18
    assert watch.notices == [
        f"event test resumes: {again.resumed_match_count} of 18 matches were played before"
    ]
    unbroken = ladder(tmp_path / "3.jsonl", *bots, rounds=3)
    with anyio.fail_after(500):
        await run_ladder(unbroken, RecordingObserver())
    assert {pairing for pairing, _ in again.played_matches} == {
        pairing for pairing, _ in unbroken.played_matches
    }
    assert make_standings(again.bot_names, again.records) == make_standings(
        unbroken.bot_names, unbroken.records
    )
    kept = in_store(tmp_path / "arena.db")
    assert len(kept) == 18
    assert None not in kept.values()
    # The new file also has the records of the earlier run.
    assert {record.match for record in records.read_records(tmp_path / "2.jsonl")} == set(kept)


async def test_another_plan_is_refused_in_one_line(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'arena.db'}"
    await run_ladder(ladder(tmp_path / "r", bot("a"), bot("b")), RecordingObserver(), database_url=url)
    with pytest.raises(CannotResumeLadder) as refused:
        await run_ladder(
            ladder(tmp_path / "r", bot("a"), bot("b"), rounds=2), RecordingObserver(), database_url=url
        )
    assert str(refused.value) == (
        "event test was started with different settings: rounds was 1, now 2; give it another name"
    )


async def test_matches_that_nobody_could_play_are_in_the_store_too(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'arena.db'}"
    finished_ladder = ladder(tmp_path / "r", bot("a"), bot("b", "crash"))
    with anyio.fail_after(500):
        await run_ladder(finished_ladder, RecordingObserver(), database_url=url)
    assert {record.result.reason for record in finished_ladder.records} == {EndReason.NO_SHOW}
    assert set(in_store(tmp_path / "arena.db")) == {record.match for record in finished_ladder.records}


async def test_enough_stops_it(tmp_path: Path) -> None:
    whole = ladder(tmp_path / "record.jsonl", bot("a"), bot("b"), rounds=100, concurrency=1)
    finished_ladder = short_ladder(3, whole)
    with anyio.fail_after(500):
        await run_ladder(finished_ladder, RecordingObserver())
    assert len(finished_ladder.played_matches) == 3
    assert not finished_ladder.is_stopped


async def test_a_ladder_that_cannot_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(BotNotStarted, match="bot b cannot play: no engine is called 'x'"):
        await run_ladder(ladder(tmp_path / "a.jsonl", bot("a"), bot("b", "misuse")), RecordingObserver())
    with pytest.raises(StoreError):
        await run_ladder(
            ladder(tmp_path / "b.jsonl", bot("a"), bot("b")),
            RecordingObserver(),
            database_url="mysql://x",
        )
    assert not files(tmp_path)  # no empty record file is left
    with pytest.raises(OSError, match="No such file"):
        await run_ladder(ladder(tmp_path / "none" / "c.jsonl", bot("a"), bot("b")), RecordingObserver())
