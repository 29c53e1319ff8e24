"""`arena invite`: links for the owners in a roster, and invalid invitations."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

import anyio
import pytest

from tests.bots.command_line import arena, fails


async def test_each_owner_of_a_roster_gets_a_link(database: str, tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text("Name,class\nada,1\nbob,2\n\nada,3\n", encoding="utf-8")
    words = ("invite", "--roster", str(roster), "--db", database, "--url", "wss://arena.example/")
    result = await anyio.to_thread.run_sync(lambda: arena(*words))
    assert result.code == 0, result
    links = {row["owner"]: row["link"] for row in csv.DictReader(StringIO(result.stdout))}
    assert list(links) == ["ada", "bob"]
    assert len(set(links.values())) == 2
    assert all(link.startswith("https://arena.example/join/") for link in links.values())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "name 1 to 10000 owners"),
        (("--roster", "nowhere.csv"), "--roster: cannot read nowhere.csv"),
        (("ada", "--expires", "soon"), "--expires: 'soon' is not a duration"),
        (("ada", "--expires", "0d"), "--expires: '0d' is not a duration"),
    ],
)
def test_an_invalid_invitation_is_a_usage_error(words: tuple[str, ...], why: str) -> None:
    fails(why, 2, "invite", *words)


def test_a_roster_that_is_not_csv_is_a_usage_error(tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text('"' + "x" * 200_000, encoding="utf-8")
    fails(f"--roster: {roster} is not CSV: field larger than field limit", 2, "invite", "--roster", roster)
