from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from arena.protocol.record import from_line
from arena.server.host import open_host
from arena.server.settings import make_private_host_settings
from arena.server.store.aggregates.match_counting import count_new_matches
from arena.server.store.database import open_store
from tests.server.command_line import run
from tests.server.played import MAXIE_WINS, MINNIE_WINS, day, events, keep


@pytest.fixture
def filled_store(database: str) -> str:
    """Return a store with five finished matches."""

    async def fill() -> None:
        async with open_store(database) as engine:
            for number in range(5):
                await keep(engine, day(1 + number), events((MAXIE_WINS, MINNIE_WINS)[number % 2]))
            await count_new_matches(engine)

    anyio.run(fill)
    return database


def stats(database: str) -> dict[str, object]:
    code, out, err = run("store", "stats", "--db", database, "--json", "-")
    assert (code, err) == (0, "")
    data: dict[str, object] = json.loads(out)
    return data


def test_stats_show_the_contents_and_size_of_the_store(filled_store: str) -> None:
    counts = stats(filled_store)
    assert {name: counts[name] for name in ("matches", "packed", "in_progress", "oldest", "newest")} == {
        "matches": 5,
        "packed": 0,
        "in_progress": 0,
        "oldest": day(1),
        "newest": day(5),
    }
    tables = counts["tables"]
    assert isinstance(tables, dict)
    assert tables["events"] > 0
    assert isinstance(counts["bytes"], int)
    assert counts["bytes"] >= sum(tables.values())
    assert counts["bytes_a_match"]
    code, out, _ = run("store", "stats", "--db", filled_store)
    assert code == 0
    assert "| finished matches" in out
    assert "| bytes of events" in out


def test_prune_removes_and_vacuum_packs_and_gives_back(filled_store: str, tmp_path: Path) -> None:
    rated = run("ratings", "--db", filled_store)[1]
    folder = tmp_path / "old"
    code, out, err = run("store", "prune", "--keep", "2", "--archive", str(folder), "--db", filled_store)
    assert (code, out, err) == (0, "", f"3 matches are archived in {folder}\n")
    (file,) = folder.iterdir()
    code, out, err = run("store", "vacuum", "--db", filled_store)
    assert code == 0
    assert err.startswith("the store is ")
    counts = stats(filled_store)
    assert (counts["matches"], counts["packed"], counts["free"]) == (2, 2, 0)
    assert run("ratings", "--recompute", "--db", filled_store)[:2] == (0, rated)
    code, _, err = run("import", str(file), "--db", filled_store)
    assert (code, err.startswith("3 matches are new")) == (0, True)
    assert run("ratings", "--recompute", "--db", filled_store)[:2] == (0, rated)
    run("export", str(tmp_path / "all.jsonl"), "--db", filled_store)
    assert len({from_line(line).match for line in (tmp_path / "all.jsonl").read_bytes().splitlines()}) == 5


def test_the_store_of_a_running_server_is_not_vacuumed(database: str) -> None:
    async def refused() -> tuple[int, str, str]:
        async with open_host(make_private_host_settings(database=database, name="north")):
            return await anyio.to_thread.run_sync(run, "store", "vacuum", "--db", database)

    code, _, err = anyio.run(refused)
    assert code == 1
    assert err.startswith("arena: the server 'north' is running on this store already")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            ["prune", "--keep", "90h"],
            "--keep: '90h' does not say which matches to keep: write a number of matches",
        ),
        (["prune", "--keep", ""], "--keep: '' does not say which matches to keep: write a number of matches"),
        (["prune", "--keep", "5", "--archive", __file__], "is not a folder"),
        (["prune"], "--keep"),
        (["stats", "--db", "sqlite:///nowhere.db"], "database nowhere.db does not exist"),
    ],
)
def test_invalid_arguments_are_reported(
    arguments: list[str],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = run("store", *arguments)
    assert code in (1, 2)
    assert why in err
