"""A fault in a match is told with all that is known of that match, and with little of others."""

from __future__ import annotations

from pathlib import Path

from arena.server.store.database import open_store
from tests.e2e.trail import trails
from tests.server.played import NO_SHOW, day, events, keep


async def test_the_log_of_a_match_and_the_lines_about_it_are_told(tmp_path: Path) -> None:
    match, other = "a" * 32, "b" * 32
    url = f"sqlite:///{tmp_path / 'arena.db'}"
    async with open_store(url) as engine:
        await keep(engine, day(1), events((), NO_SHOW), match=match)
    log = tmp_path / "server.log"
    rows = [f"stands still match='{match}'", "gone bot='anna'", "the bus is unavailable"]
    log.write_text("\n".join([*rows, f"stands still match='{other}'", "gone bot='carl'"]))
    lines = (await trails(url, [f"{match} ended as no_show"], [log])).splitlines()
    assert lines[0] == f"{match} ended as no_show"
    assert lines[1].startswith(f"match {match}, anna against bert: no_show, ")
    assert "start sent to both" in lines[2]
    assert lines[-4:] == ["-- server.log", *rows]


async def test_a_match_that_is_nowhere_is_said_to_be(tmp_path: Path) -> None:
    told = await trails(f"sqlite:///{tmp_path / 'arena.db'}", [f"{'c' * 32} is lost"], [])
    assert told.splitlines()[0] == f"{'c' * 32} is lost"
    assert "no match begins with" in told
