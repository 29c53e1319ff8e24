"""Kills a ladder with -9 again and again: no match lost, none doubled, the same table as without a kill.

    python -m benchmarks.kills                50 kills of an event of 200 matches
    python -m benchmarks.kills --kills 5 --rounds 5

The bots always answer alike, so the table of an event without a kill is the one to reach. Exit code 1
when anything differs, or when the event was over before the last kill.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

BOT = """
import time

from bots.api.bot import Bot

class Alike(Bot):
    def choose(self, position, clock):
        time.sleep({seconds})
        moves = self.game.moves(position)
        return moves[{place} % len(moves)]
"""

PAUSE = 0.02
"""Seconds that a bot takes for a move: so an event of 200 matches is still in play when the 50th kill comes."""

PLACES = (0, 1, 2, 3, -1)


def command(folder: Path, rounds: int, name: str) -> list[str]:
    """What plays the event; the same words go on with it."""
    bots = [word for place in PLACES for word in ("--bot", str(folder / f"bot{place}.py"))]
    return [
        *(
            sys.executable,
            "-P",
            "-m",
            "arena",
            "ladder",
            "--game",
            "tictactoe",
            "--tc",
            "60+1",
            "--openings",
            "3",
        ),
        *("--rounds", str(rounds), "--event", "kills", "--db", f"sqlite:///{folder / name}.db"),
        *("--record", str(folder / f"{name}.jsonl"), "--json", str(folder / f"{name}.json"), *bots),
    ]


def finished(folder: Path, name: str) -> list[str]:
    """The ids of the matches that are in the store with their records."""
    with closing(sqlite3.connect(folder / f"{name}.db")) as store:
        return [match for (match,) in store.execute("SELECT match from matches where record is not null")]


def play(folder: Path, rounds: int, name: str) -> dict[str, Any]:
    """Play to the end: what `--json` tells."""
    done = subprocess.run(
        command(folder, rounds, name), capture_output=True, text=True, check=False, cwd=folder
    )
    if done.returncode:
        raise SystemExit(f"the ladder failed: {done.stderr[-2000:]}")
    told: dict[str, Any] = json.loads((folder / f"{name}.json").read_text())
    return told


def kill(folder: Path, rounds: int, name: str, dice: random.Random) -> None:
    """Go on with the event and kill it at a random moment: mostly in play, sometimes while it starts."""
    before = count(folder, name)
    with subprocess.Popen(
        command(folder, rounds, name), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder
    ) as process:
        if dice.random() < 0.2:
            time.sleep(dice.uniform(0, 3))
        else:
            while count(folder, name) == before and process.poll() is None:
                time.sleep(0.01)
            time.sleep(dice.uniform(0, 0.1))
        process.kill()


def count(folder: Path, name: str) -> int:
    """How many matches are in the store, if it is there by now."""
    try:
        return len(finished(folder, name)) if (folder / f"{name}.db").exists() else 0
    except sqlite3.OperationalError:  # it is just being made
        return 0


def main() -> int:
    """Kill, go on, compare: 0 when all is as it would have been."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=10, help="of 20 matches each")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    dice = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="arena-kills-") as made:
        folder = Path(made)
        for place in PLACES:
            (folder / f"bot{place}.py").write_text(BOT.format(place=place, seconds=PAUSE))
        began = time.monotonic()
        unbroken = play(folder, arguments.rounds, "unbroken")
        seconds = time.monotonic() - began
        print(f"never killed: {unbroken['played']} matches in {seconds:.0f} s", flush=True)
        before = 0
        for number in range(1, arguments.kills + 1):
            kill(folder, arguments.rounds, "killed", dice)
            after = count(folder, "killed")
            print(f"kill {number}: {after} matches in the store, {after - before} more", flush=True)
            if after < before:
                print("a match is lost")
                return 1
            before = after
        in_play = before < unbroken["played"]
        told = play(folder, arguments.rounds, "killed")
        ids = {name: sorted(finished(folder, name)) for name in ("unbroken", "killed")}
        lines = [json.loads(line)["match"] for line in (folder / "killed.jsonl").read_text().splitlines()]
    checks = {
        "the event was in play at every kill": in_play,
        "no match is lost and none is doubled": len(ids["killed"]) == len(ids["unbroken"]) == told["matches"],
        "the file has each match of the store once": sorted(lines) == ids["killed"],
        "the table is the same": told["table"] == unbroken["table"],
    }
    for what, right in checks.items():
        print(f"{'yes' if right else 'NO'}: {what}")
    return 0 if all(checks.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
