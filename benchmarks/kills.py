"""Repeated kills of a ladder or a server with SIGKILL. No match, move or result may be lost.

    python -m benchmarks.kills                          50 kills of an event of 200 matches
    python -m benchmarks.kills --kills 5 --rounds 5
    python -m benchmarks.kills server --kills 100       a server with 50 matches of tic-tac-toe in play

A ladder is an event of many bots on one machine. The bots of this ladder are deterministic, so its final table must equal the
table of an event without kills, and no match may be lost or played twice. On the server, the messages that the bots received
are compared with the store. The exit code is 1 if anything differs, or if the ladder's event ended before the last kill.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.kit.results import make_argument_parser, print_faults
from testkit.ladder_kills import KillableLadder
from testkit.server_kills import kill_server_repeatedly

FIXED_INDEX_BOT_SOURCE = """
import time

from arena.bots.api.bot import Bot

class FixedIndexBot(Bot):
    def choose(self, position, clock):
        time.sleep({seconds})
        moves = self.game.moves(position)
        return moves[{index} % len(moves)]
"""

SECONDS_PER_MOVE = 0.02
"""Seconds that a bot takes for a move. With less, an event of 200 matches would end before the 50th kill."""

LEGAL_MOVE_INDEX_BY_BOT = (0, 1, 2, 3, -1)
"""Move that a bot always plays, for each bot of the event: its index in the list of legal moves, modulo the list's length."""


def make_killable_ladder(folder: Path, round_count: int) -> KillableLadder:
    """Write deterministic bots to a folder, and return a ladder of `round_count` rounds in which these bots play."""
    for index in LEGAL_MOVE_INDEX_BY_BOT:
        (folder / f"bot{index}.py").write_text(
            FIXED_INDEX_BOT_SOURCE.format(index=index, seconds=SECONDS_PER_MOVE), encoding="utf-8"
        )
    bots = [word for index in LEGAL_MOVE_INDEX_BY_BOT for word in ("--bot", f"bot{index}.py")]
    terms = ("--game", "tictactoe", "--tc", "60+1", "--openings", "3", "--event", "kills")
    return KillableLadder(folder, (*terms, "--rounds", str(round_count), *bots))


def list_faults_after_ladder_kills(arguments: argparse.Namespace, folder: Path) -> list[str]:
    """Kill a ladder repeatedly. Return a line of text for each difference from the same ladder without kills."""
    rng = random.Random(arguments.seed)
    ladder = make_killable_ladder(folder, arguments.rounds)
    start_time = time.monotonic()
    uninterrupted = ladder.play_to_end("unbroken")
    duration_seconds = time.monotonic() - start_time
    print(f"never killed: {uninterrupted['played']} matches in {duration_seconds:.0f} s", flush=True)
    matches_before: set[str] = set()
    for number in range(1, arguments.kills + 1):
        # Most kills happen during play, some during the start.
        if rng.random() < 0.2:
            ladder.resume_and_kill("killed", rng.uniform(0, 3), is_delay_from_start=True)
        else:
            ladder.resume_and_kill("killed", rng.uniform(0, 0.1))
        matches_after = ladder.load_finished_match_ids("killed")
        print(
            f"kill {number}: {len(matches_after)} matches in the store, {len(matches_after - matches_before)} more",
            flush=True,
        )
        if matches_before - matches_after:
            return ["a match is lost"]
        matches_before = matches_after
    in_play = len(matches_before) < uninterrupted["played"]
    interrupted = ladder.play_to_end("killed")
    ids = {name: sorted(ladder.load_finished_match_ids(name)) for name in ("unbroken", "killed")}
    lines = [json.loads(line)["match"] for line in (folder / "killed.jsonl").read_text().splitlines()]
    checks = {
        "the event was in play at every kill": in_play,
        "no match is lost and none is doubled": len(ids["killed"])
        == len(ids["unbroken"])
        == interrupted["matches"],
        "the file has each match of the store once": sorted(lines) == ids["killed"],
        "the table is the same": interrupted["table"] == uninterrupted["table"],
    }
    for check, holds in checks.items():
        print(f"{'yes' if holds else 'NO'}: {check}")
    return [f"not true: {check}" for check, holds in checks.items() if not holds]


def list_faults_after_server_kills(arguments: argparse.Namespace, folder: Path) -> list[str]:
    """Kill a server repeatedly, and return a line of text for each loss."""
    random.seed(arguments.seed)
    start_time = time.monotonic()
    # With short matches, a kill often hits the beginning or the end of one.
    options = ("--game", "tictactoe")
    result = asyncio.run(
        kill_server_repeatedly(arguments.kills, arguments.matches, folder=folder, options=options)
    )
    print(
        f"{result.kill_count} kills in {time.monotonic() - start_time:.0f} s: {result.match_count} matches, "
        f"{result.interrupted_match_count} of them in progress at a kill, {result.acknowledged_move_count} acknowledged moves"
    )
    print("ended by", ", ".join(f"{reason} {count}" for reason, count in result.end_reasons.most_common()))
    return result.faults


def main() -> int:
    """Kill a ladder or a server repeatedly, and print all losses and differences. Return the exit code: 1 if there are any."""
    parser = make_argument_parser(__doc__)
    parser.add_argument(
        "part",
        nargs="?",
        default="ladder",
        choices=("ladder", "server"),
        help="program to kill in the middle of its work: ladder or server; default: %(default)s",
    )
    parser.add_argument(
        "--kills",
        type=int,
        default=50,
        help="number of times that the program is killed; default: %(default)s",
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=10,
        help="only for `ladder`: number of rounds, of 20 matches each; default: %(default)s",
    )
    parser.add_argument(
        "--matches",
        type=int,
        default=50,
        help="number of parallel matches, only for `server`; default: %(default)s",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        help="seed of the random times at which the program is killed; default: %(default)s",
    )
    arguments = parser.parse_args()
    kill = list_faults_after_ladder_kills if arguments.part == "ladder" else list_faults_after_server_kills
    with tempfile.TemporaryDirectory(prefix="arena-kills-") as folder:
        return print_faults(kill(arguments, Path(folder)))


if __name__ == "__main__":
    sys.exit(main())
