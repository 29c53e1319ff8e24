"""`arena audit` on a store."""

from __future__ import annotations

import json

import anyio
import pytest

from arena.server.store.database import open_store
from tests.server.command_line import run
from tests.server.played import MAXIE_WINS, RESIGNS, day, events, keep


def test_suspicious_results_are_listed_for_the_host(
    capsys: pytest.CaptureFixture[str], database: str
) -> None:
    async def fill() -> None:
        async with open_store(database) as engine:
            for number in range(6):
                await keep(engine, day(1 + number), events((), RESIGNS), maxie="anna", minnie="bert")
                await keep(engine, day(1 + number), events(MAXIE_WINS), maxie="carl", minnie="anna")

    anyio.run(fill)
    code, out, err = run(capsys, "audit", "--json", "-", "--db", database)
    assert code == 0, err
    (found,) = json.loads(out)
    assert (found["check"], found["bot"], found["opponent"]) == ("resignation", "anna", "bert")
    code, out, _ = run(capsys, "audit", "--db", database)
    assert "6 of 6 losses by resignation, 0 of 6 to all others" in out
    code, out, err = run(capsys, "audit", "--event", "none", "--db", database)
    assert (code, "nothing suspicious was found" in out + err) == (0, True)
