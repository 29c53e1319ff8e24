from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.protocol.record import parse_record_line
from tests.bots.command_line import arena, fails
from tests.server.played import MAXIE_WINS, MINNIE_WINS, day, events, store_matches_daily


@pytest.fixture
def filled_store(database: str) -> str:
    """Return a store with five finished matches."""
    return store_matches_daily(database, *map(events, [MAXIE_WINS, MINNIE_WINS] * 2 + [MAXIE_WINS]))


def stats(database: str) -> dict[str, object]:
    code, out, err = arena("store", "stats", "--db", database, "--json", "-")
    assert (code, err) == (0, "")
    data: dict[str, object] = json.loads(out)
    return data


def test_stats_show_the_contents_and_size_of_the_store(filled_store: str) -> None:
    counts = stats(filled_store)
    assert (counts["matches"], counts["oldest"], counts["newest"]) == (5, day(1), day(5))
    assert counts["bytes_a_match"]
    code, out, _ = arena("store", "stats", "--db", filled_store)
    assert code == 0
    assert "| finished matches" in out
    assert "| bytes of events" in out


def test_prune_removes_matches_and_vacuum_frees_their_space(filled_store: str, tmp_path: Path) -> None:
    rated = arena("ratings", "--db", filled_store)[1]
    folder = tmp_path / "old"
    code, out, err = arena("store", "prune", "--keep", "2", "--archive", str(folder), "--db", filled_store)
    assert (code, out, err) == (0, "", f"3 matches are archived in {folder}\n")
    (file,) = folder.iterdir()
    code, out, err = arena("store", "vacuum", "--db", filled_store)
    assert code == 0
    assert err.startswith("the store is ")
    counts = stats(filled_store)
    assert (counts["matches"], counts["packed"], counts["free"]) == (2, 2, 0)
    assert arena("ratings", "--recompute", "--db", filled_store)[:2] == (0, rated)
    code, _, err = arena("import", str(file), "--db", filled_store)
    assert (code, err.startswith("3 matches are new")) == (0, True)
    assert arena("ratings", "--recompute", "--db", filled_store)[:2] == (0, rated)
    arena("export", str(tmp_path / "all.jsonl"), "--db", filled_store)
    assert (
        len({parse_record_line(line).match for line in (tmp_path / "all.jsonl").read_bytes().splitlines()})
        == 5
    )


@pytest.mark.parametrize(
    ("code", "arguments", "why"),
    [
        (2, ["prune", "--keep", "90h"], "--keep: '90h' does not say which matches to keep"),
        (2, ["prune", "--keep", "5", "--archive", __file__], "is not a folder"),
        (2, ["prune"], "--keep"),
        (1, ["stats", "--db", "sqlite:///nowhere.db"], "database nowhere.db does not exist"),
    ],
)
def test_invalid_arguments_are_reported(code: int, arguments: list[str], why: str) -> None:
    fails(why, code, "store", *arguments)
