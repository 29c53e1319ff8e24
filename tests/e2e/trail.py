"""Evidence about matches that fail a test: their logs from the store, and all lines about them in other logs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from arena.server.store.database import open_store
from arena.server.web.match_log import MatchLog, load_match_log
from arena.server.web.routes import NotFound

MATCH = re.compile(r"\b[0-9a-f]{32}\b")
MOST = 3
"""Matches that are told of."""
LINES = 200
"""Lines of each file that are shown, the last ones."""


async def trails(database: str, faults: Iterable[str], files: Sequence[Path]) -> str:
    """Return the log lines about the matches that these texts name, if there are few of them.

    files: logs of servers, and what clients have printed; of what is about no match everything that names the players, or none, is shown
    """
    texts = list(faults)
    matches = list(dict.fromkeys(match for text in texts for match in MATCH.findall(text)))
    async with open_store(database) as engine:
        told = list(texts)
        for match in matches[:MOST]:
            try:
                log = await load_match_log(engine, match)
            except NotFound as none:
                told.append(str(none))
                continue
            told += [*_steps(log), *(line for file in files for line in _lines(file, log))]
    return "\n".join(told)


def _steps(log: MatchLog) -> list[str]:
    head = f"match {log.match}, {log.maxie} against {log.minnie}: {log.reason}, {log.detail}"
    return [
        head,
        *(
            f"  {each.time_ms:>10.1f} ms {each.player or '':<6} {each.description} {each.refusal_reason}"
            for each in log.timeline_entries
        ),
    ]


def _lines(file: Path, log: MatchLog) -> list[str]:
    """Return the lines of a file that are about the match, its players, or about everything."""

    def matters(line: str) -> bool:
        named = MATCH.findall(line)
        if named:
            return log.match in named
        return "bot=" not in line or any(repr(name) in line for name in (log.maxie, log.minnie))

    rows = [line for line in file.read_text(encoding="utf-8").splitlines() if matters(line)]
    return [f"-- {file.name}", *rows[-LINES:]]
