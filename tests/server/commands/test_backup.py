from __future__ import annotations

import errno
import gzip
import json
import os
import re
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import anyio
import pytest

from arena.cli import main
from arena.protocol.record import format_record_line, parse_record_line, read_records
from arena.server.store import tokens
from arena.server.store.archive import IMPORTED_MATCHES_PER_TRANSACTION
from arena.server.store.database import open_store
from tests.bots.command_line import arena, fails
from tests.full_disk import FullOutput, limit_file_size
from tests.server.matches import record
from tests.server.played import MAXIE_WINS, RESIGNS, day, events, store_match


@pytest.fixture
def filled_store(database: str) -> str:
    async def fill() -> None:
        async with open_store(database) as engine:
            await store_match(engine, day(1), events(MAXIE_WINS), event="serve")
            await store_match(engine, day(2), events((4,), RESIGNS), event="other")
            await tokens.create_token(engine, "anna", "bot")

    anyio.run(fill)
    return database


def test_a_restored_backup_has_the_same_ratings(
    filled_store: str, other_database: str, tmp_path: Path
) -> None:
    before = arena("ratings", "--db", filled_store)[1]
    file = tmp_path / "backup.db"
    code, out, err = arena("backup", str(file), "--db", filled_store)
    assert (code, out, err) == (0, "", f"{file}: matches: 2, finished: 2, tokens: 1\n")
    code, _, err = arena("restore", str(file), "--db", other_database)
    assert (code, err) == (0, "restored matches: 2, finished: 2, tokens: 1\n")
    assert arena("ratings", "--recompute", "--db", other_database)[:2] == (0, before)
    assert arena("ratings", "--db", f"sqlite:///{file}")[1] == before
    fails("already has 2 matches and 1 tokens", 1, "restore", str(file), "--db", other_database)
    fails(f"cannot write {file}: the file exists", 1, "backup", str(file), "--db", filled_store)
    fails("standard output: name a file", 2, "backup", "-", "--db", filled_store)


def test_a_full_temporary_folder_is_not_an_error_of_the_backup(tmp_path: Path) -> None:
    store, file = f"sqlite:///{tmp_path / 'arena.db'}", tmp_path / "backup.db"
    assert arena("token", "create", "anna", "--db", store).code == 0
    assert arena("backup", str(file), "--db", store).code == 0
    with limit_file_size(100):
        message = f"cannot copy {file} to a temporary folder: File too large"
        fails(message, 1, "restore", str(file), "--db", f"sqlite:///{tmp_path / 'new.db'}")


def test_exported_records_can_be_imported(filled_store: str, other_database: str, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    code, out, err = arena("export", str(file), "--db", filled_store)
    assert (code, out, err) == (0, "", f"2 matches are in {file}\n")
    assert [each.event for each in read_records(file)] == ["serve", "other"]
    code, out, err = arena("export", "-", "--event", "other", "--db", filled_store)
    assert (code, out, err) == (0, file.read_text().splitlines(keepends=True)[1], "1 matches\n")
    for summary in ("2 matches are new, 0 were", "0 matches are new, 2 were"):
        code, _, err = arena("import", "--trust", str(file), "--db", other_database)
        assert code == 0
        assert err.startswith(summary)
    assert arena("ratings", "--db", other_database)[1] == arena("ratings", "--db", filled_store)[1]
    assert [path.name for path in tmp_path.glob(".*")] == []
    packed, untrusted = tmp_path / "all.jsonl.gz", f"sqlite:///{tmp_path / 'untrusted.db'}"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert arena("import", str(packed), "--db", untrusted).stderr.startswith("2 matches are new")
    assert json.loads(arena("ratings", "--json", "-", "--db", untrusted).stdout) == []


def test_bad_lines_are_reported_with_file_and_number(database: str, tmp_path: Path) -> None:
    file = tmp_path / "some.jsonl"
    file.write_text(
        f"nonsense\n{format_record_line(record('good'))}\n{format_record_line(record('bad', moves=[4, 4]))}\n"
    )
    code, _, err = arena("import", str(file), "--db", database)
    lines = err.splitlines()
    assert code == 1
    assert lines[0].startswith(f"{file}, line 1: not a record: ")
    assert lines[1].startswith(f"{file}, line 3: match bad: ")
    assert lines[2] == "arena: 1 matches are new, 0 were there already, 2 lines are bad"


def test_importing_a_database_is_refused(filled_store: str, tmp_path: Path) -> None:
    file = tmp_path / "backup.db"
    arena("backup", str(file), "--db", filled_store)
    words = ("import", str(file), "--db", f"sqlite:///{tmp_path / 'copy.db'}")
    fails(f"{file} is a database, not a file of records: ", 2, *words)
    assert not (tmp_path / "copy.db").exists()


def test_an_export_of_an_unknown_event_or_owner_is_refused(filled_store: str, tmp_path: Path) -> None:
    words = ("export", str(tmp_path / "none.jsonl"), "--db", filled_store)
    fails("event 'swerve' does not exist, or has no finished matches", 1, *words, "--event", "swerve")
    fails("nothing is stored about 'ana'", 1, *words, "--owner", "ana")
    assert not (tmp_path / "none.jsonl").exists()
    assert arena(*words, "--owner", "anna").code == 0
    arena("token", "create", "carla", "--db", filled_store)
    code, _, err = arena(*words, "--owner", "carla", "--event", "other")
    assert (code, err) == (0, f"0 matches are in {tmp_path / 'none.jsonl'}\n"), (
        "none of the owner's bots has played"
    )
    assert len((tmp_path / "none.jsonl").read_text().splitlines()) == 1


def test_an_export_to_a_device_does_not_replace_it(filled_store: str) -> None:
    reader, writer = os.pipe()
    assert arena("export", f"/dev/fd/{writer}", "--db", filled_store).code == 0
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as lines:
        assert [parse_record_line(line).event for line in lines] == ["serve", "other"]


@pytest.mark.parametrize(
    ("number", "expected_stderr"),
    [
        (errno.EPIPE, ""),
        (errno.ENOSPC, "arena: cannot write standard output: No space left on device\n"),
    ],
)
def test_a_failing_output_is_not_reported_as_an_error_of_the_database(
    filled_store: str, number: int, expected_stderr: str
) -> None:
    err = StringIO()
    with redirect_stdout(FullOutput(number)), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(["export", "-", "--db", filled_store])
    assert (ended.value.code, err.getvalue()) == (1, expected_stderr)


def test_an_export_into_a_missing_folder_is_refused(filled_store: str, tmp_path: Path) -> None:
    file = tmp_path / "no" / "all.jsonl"
    fails(
        f"cannot write {file}: folder {file.parent} does not exist",
        2,
        "export",
        str(file),
        "--db",
        filled_store,
    )


@pytest.mark.parametrize("command", ["backup", "restore", "export", "import"])
def test_a_missing_store_or_file_is_reported_in_one_line(tmp_path: Path, command: str) -> None:
    database = f"sqlite:///{tmp_path / 'nothere.db'}"
    why = "does not exist" if command in {"backup", "export"} else "cannot read"
    fails(why, 1, command, str(tmp_path / "file"), "--db", database)
    assert list(tmp_path.iterdir()) == [], "no store may appear"


def test_nothing_is_imported_from_a_damaged_compressed_file(tmp_path: Path) -> None:
    file, folder = tmp_path / "cut.jsonl.gz", tmp_path / "stores"
    folder.mkdir()
    records = [
        format_record_line(record(f"{number:032}")) for number in range(IMPORTED_MATCHES_PER_TRANSACTION + 1)
    ]
    whole = gzip.compress("".join(f"{each}\n" for each in records).encode())
    damaged = whole[:-8] + bytes(4) + whole[-4:]  # a wrong checksum
    for content in (whole[:-9], damaged, gzip.compress(b"x" * 1000)[:-9]):
        file.write_bytes(content)
        code, _, err = arena("import", str(file), "--db", f"sqlite:///{folder / 'arena.db'}")
        assert code == 1
        assert re.fullmatch(rf"arena: cannot read {file} after line \d+: .+; nothing is imported\n", err)
    file.write_bytes(b"nonsense\n")
    code, _, err = arena("import", str(file), "--db", f"sqlite:///{folder / 'arena.db'}")
    assert code == 1
    assert err.endswith("arena: 0 matches are new, 0 were there already, 1 lines are bad\n")
    assert list(folder.iterdir()) == [], "no store may appear"
