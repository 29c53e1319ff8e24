"""Cost of the ladder runner: matches per second and CPU time per move, with bots that answer immediately.

    python -m benchmarks.ladder                      tic-tac-toe, 200 matches, in a temporary store
    python -m benchmarks.ladder --tc 0.05+0.005 --rounds 5000       how many of 10,000 matches are lost on time
    python -m benchmarks.ladder --game riskless --map m2 --limit 88 a draw after so many plies

The CPU time is that of this process alone: the runner, the server, the referees and the store; the bots
are processes of their own.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from arena.ladder.event import Ladder
from arena.ladder.openings import RandomOpenings
from arena.ladder.plan import LadderPlan, engine_bot
from arena.ladder.play import run_ladder
from arena.maps.setup import make_setup
from arena.protocol.adjudication import Adjudication
from arena.protocol.codes import FORFEITS
from arena.protocol.record import Record
from arena.protocol.timecontrol import TimeControl
from arena.rating.standings import is_void
from arena.server.edge.interpreter import infrequent_collections
from benchmarks.kills import BOT
from benchmarks.kit.served import cpu_of_machine


@dataclass
class Times:
    """End times of matches, and CPU time of this process at these times, in seconds."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    """CPU times after the first match, and after the last if it was known to be the last: reading them costs time."""
    machine: list[tuple[float, float]] = field(default_factory=list)
    """Busy and total time of all cores at the same moments."""

    def look(self) -> None:
        """Record the CPU time of this process and of the machine."""
        self.cpu.append(time.process_time())
        self.machine.append(cpu_of_machine())

    def played(self, ladder: Ladder, record: Record) -> None:  # noqa: ARG002  a ladder's watcher
        """Record the end of a match."""
        self.wall.append(time.perf_counter())
        if len(self.wall) in (1, ladder.matches):
            self.look()

    def notice(self, text: str) -> None:
        """Print a bot's error."""
        print(text, file=sys.stderr)


def main() -> int:
    """Play and print the figures. Return 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--game", default="tictactoe")
    parser.add_argument("--map", default="path4")
    parser.add_argument("--tc", default="10+0.1")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--concurrency", type=int, default=0)
    parser.add_argument("--limit", type=int, help="plies after which a match is a draw")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="arena-benchmark-") as made:
        folder = Path(made)
        for place in (0, 1):
            (folder / f"bot{place}.py").write_text(BOT.format(seconds=0, place=place))
        starts = [make_setup(arguments.game, arguments.map)]
        plan = LadderPlan(
            tuple(engine_bot(str(folder / f"bot{place}.py")) for place in (0, 1)),
            event="benchmark",
            game=arguments.game,
            time_control=TimeControl.parse(arguments.tc),
            rounds=arguments.rounds,
            concurrency=arguments.concurrency,
            adjudication=Adjudication(limit=arguments.limit) if arguments.limit else None,
        )
        ladder = Ladder(plan, starts, folder / "record.jsonl", openings=RandomOpenings(starts, 3, 1))
        times = Times()

        async def play() -> None:
            await run_ladder(ladder, times)

        with infrequent_collections():  # as `arena ladder` does
            anyio.run(play, backend_options={"use_uvloop": sys.platform != "win32"})
    # From the end of the first match on: bots take seconds to start.
    moves = sum(sum(not each.opening for each in record.moves) for record in ladder.records[1:])
    if len(times.cpu) == 1:
        times.look()
    (busy, had), (busy_then, had_then) = times.machine
    seconds, cpu = times.wall[-1] - times.wall[0], times.cpu[-1] - times.cpu[0]
    ends = Counter(record.result.reason.value for record in ladder.records)
    lost = sum(number for reason, number in ends.items() if reason in {each.value for each in FORFEITS})
    print(f"{(len(times.wall) - 1) / seconds:.1f} matches a second, {ladder.concurrency} at once")
    print(f"{1000 * cpu / moves:.3f} ms of CPU a move of the runner and server, in {moves} moves")
    print(
        f"the machine's cores were busy for {(busy_then - busy) / max(0.01, had_then - had):.1%} of the time"
    )
    print(
        f"{lost} forfeits and {sum(map(is_void, ladder.records))} void in {len(ladder.records)}: {dict(ends)}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
