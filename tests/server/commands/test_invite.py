"""`arena invite`: links for the owners in a roster, and invalid invitations."""

from __future__ import annotations

import csv
import errno
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import anyio
import pytest

from arena.console import CommandError
from arena.server.commands.invite import invite_command
from tests.bots.command_line import arena, fails
from tests.full_disk import FullOutput


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
        ((), "name 1 to 10,000 owners"),
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


def test_links_that_cannot_be_written_create_no_invitation(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'arena.db'}"
    fails("cannot write /dev/full: No space left", 1, "invite", "ada", "--csv", "/dev/full", "--db", url)
    with (
        redirect_stdout(FullOutput(errno.ENOSPC)),
        pytest.raises(CommandError, match="cannot write standard"),
    ):
        invite_command(["ada"], db=url)
    assert "ada" not in arena("owner", "list", "--db", url).stdout


def test_a_file_of_links_stays_as_it_was_if_the_invitations_cannot_be_stored(tmp_path: Path) -> None:
    (tmp_path / "arena.db").write_text("this file is no database, whatever its name says")
    links = tmp_path / "links.csv"
    links.write_text("earlier links")
    fails(
        "is not a database", 1, "invite", "ada", "--csv", links, "--db", f"sqlite:///{tmp_path / 'arena.db'}"
    )
    assert links.read_text() == "earlier links"
