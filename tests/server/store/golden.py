"""A store as one release writes it, for the tests of upgrades: matches that are over, and matches in play.

    python -m tests.server.store.golden SOURCES FOLDER

plays with the `arena serve` of the sources in SOURCES, kills it in the middle of two matches, and writes into FOLDER the
store (as an SQLite file, and as statements for PostgreSQL) and the secrets of its bots. It is done once for each
release, with the sources of that release, before its schema gets a successor.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import anyio

from arena.games.catalogue import make_game
from arena.protocol.messages import (
    Accept,
    Accepted,
    Challenge,
    Challenged,
    End,
    Move,
    Ready,
    Resign,
    Start,
    Turn,
)
from arena.protocol.timecontrol import TimeControl
from arena.protocol.values import Thinking
from testkit.parts import postgresql_folder
from tests.server.databases import running_postgresql
from tests.server.peer import Peer, dial

CLOCK = TimeControl(600_000, 1_000)
LINE, FULL_BOARD = (0, 3, 1, 4, 2), (0, 4, 8, 1, 7, 6, 2, 5, 3)
PLAYERS = ("anna", "bert", "cleo", "dora")
START_SECONDS = 60
COUNT_SECONDS = 2.0
"""In which the ratings of the last match have been counted."""


async def begin(names: tuple[str, str], bots: dict[str, Peer], game: str) -> Start:
    """A match of which the first is Maxie."""
    first, second = (bots[name] for name in names)
    await first.say(Challenge(names[1], game, "m2", CLOCK, "maxie"))
    await second.say(Accept((await second.hear(Challenged)).challenge))
    start = await first.hear(Start)
    await second.hear(Start)
    for bot in (first, second):
        await bot.say(Ready(start.match))
    return start


async def play(start: Start, bots: Sequence[Peer], moves: Sequence[Any]) -> None:
    """Play these moves, each when it is asked for, and wait until each is acknowledged."""
    for ply, move in enumerate(moves):
        mover = bots[ply % 2]
        while (await mover.hear(Turn)).match != start.match:
            pass
        thinking = Thinking(depth=1, value=0.5, nodes=9, line=[move])
        await mover.say(Move(start.match, ply, move, thinking))
        await mover.hear(Accepted)


def some_moves(start: Start, count: int) -> list[Any]:
    """The first moves of a match, each the last of those that are legal."""
    game = make_game(start.game, start.setup)
    position, moves = game.start(), []
    for _ in range(count):
        move = game.moves(position)[-1]
        moves.append(game.move_to_data(move))
        position = game.play(position, move)
    return moves


async def fill(url: str, tokens: dict[str, str]) -> dict[str, str]:
    """Play five matches to their ends and two more half-way. Returns the secrets of the sessions."""
    async with AsyncExitStack() as stack:
        bots = {name: await stack.enter_async_context(dial(url)) for name in PLAYERS}
        for name, bot in bots.items():
            await bot.hello(name, tokens[name], pool=False, matches=8)
        for moves in (LINE, FULL_BOARD):
            for names in (("anna", "bert"), ("cleo", "anna")):
                pair = [bots[name] for name in names]
                await play(await begin(names, bots, "tictactoe"), pair, moves)
                for bot in pair:
                    await bot.hear(End)
        start = await begin(("bert", "cleo"), bots, "riskless")
        await play(start, (bots["bert"], bots["cleo"]), some_moves(start, 6))
        await bots["bert"].say(Resign(start.match))
        await bots["cleo"].hear(End)
        for game, names, plies in (("tictactoe", ("cleo", "dora"), 3), ("riskless", ("dora", "anna"), 5)):
            start = await begin(names, bots, game)
            await play(start, [bots[name] for name in names], some_moves(start, plies))
        await anyio.sleep(COUNT_SECONDS)
        return {name: bot.welcome.session for name, bot in bots.items()}


class Release:
    """The `arena` command of some sources."""

    def __init__(self, sources: Path) -> None:
        self._environment = os.environ | {"PYTHONPATH": str(sources)}

    def command(self, *arguments: str) -> list[str]:
        """The words of a command."""
        return [sys.executable, "-P", "-m", "arena", *arguments]

    def run(self, *arguments: str) -> str:
        """What a command prints. Raises CalledProcessError."""
        command = self.command(*arguments)
        done = subprocess.run(command, env=self._environment, stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout.strip()

    def serve(self, database: str, log: Path) -> tuple[subprocess.Popen[bytes], str]:
        """A server that runs, and its address."""
        command = self.command(
            "serve", "--db", database, "--port", "0", "--house", "none", "--challenges-only"
        )
        with log.open("wb") as written:
            process = subprocess.Popen(command, env=self._environment, stdout=written, stderr=written)
        end = time.monotonic() + START_SECONDS
        while not (found := re.search(r"^listening on (ws://\S+)$", log.read_text(), re.MULTILINE)):
            if process.poll() is not None or time.monotonic() > end:
                process.kill()
                raise RuntimeError(log.read_text())
            time.sleep(0.05)
        return process, found[1]


def dump(database: str) -> str:
    """The statements that make a PostgreSQL database as it is."""
    options = ("--inserts", "--rows-per-insert=50", "--no-owner", "--no-privileges", "--no-comments")
    done = subprocess.run(["pg_dump", *options, database], stdout=subprocess.PIPE, text=True, check=True)
    # Settings and commands of psql differ from version to version.
    left_out = re.compile(r"--|\\|SET |SELECT pg_catalog.set_config|$")
    lines = [line for line in done.stdout.splitlines() if not left_out.match(line)]
    return "\n".join(lines) + "\n"


def main(sources: Path, folder: Path) -> None:
    """Make the files of one release."""
    release = Release(sources)
    binaries = postgresql_folder()
    if binaries is None:
        raise RuntimeError("PostgreSQL is needed")
    with tempfile.TemporaryDirectory() as made, running_postgresql(binaries) as postgresql:
        store = Path(made) / "arena.db"
        url = f"sqlite:///{store}"
        tokens = {name: release.run("token", "create", name, "--db", url).split()[-1] for name in PLAYERS}
        server, address = release.serve(url, Path(made) / "log")
        try:
            sessions = anyio.run(fill, address, tokens)
        finally:
            server.kill()
            server.wait()
        copy = Path(made) / "copy.db"
        release.run("backup", "--db", url, str(copy))
        database = postgresql.new_database()
        release.run("restore", "--db", database, str(copy))
        with closing(sqlite3.connect(copy)) as connection:
            (version,) = connection.execute("SELECT schema_version FROM about").fetchone()
        name = folder / f"{version:04}"
        name.with_suffix(".sqlite").write_bytes(copy.read_bytes())
        name.with_suffix(".sql").write_text(dump(database), encoding="utf-8")
        secrets = {"tokens": tokens, "sessions": sessions}
        name.with_suffix(".json").write_text(json.dumps(secrets, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
