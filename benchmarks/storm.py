"""A storm of bots that all lose their connections at once and all come back: every match ends, and rightly.

    python -m benchmarks.storm [--bots 500]

The server and the bots stand in network namespaces with a bad line between (testkit/cable.py: needs root). One
after the other, all connections are reset, reset by the kernels, lost at the bots' end only, and held up by a cut
cable. Then the server is drained, and each match in its store is held against the rules. Exit code 1 for any fault.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import sqlalchemy as sa

from arena.protocol.record import from_line
from arena.server.store import schema
from arena.server.store.database import open_store
from arena.server.store.packing import record_in
from benchmarks.kit.faults import report
from testkit.cable import Cable, NoCable, laid
from testkit.crash import check_end

THINK = 4.0
"""Seconds at the most that a bot thinks: bots and server have the same two cores."""
BACK_SECONDS = 60
"""In which all must be back; their matches wait for 30 s of them."""
DRAIN_SECONDS = 90
CUT_SECONDS = 3.0
BROKEN = ("reset", "kernel", "vanish")
"""What ends connections."""
DELAY = ("0.1", "0.05")
LOSS = ("0.05", "0.3")


WHAT = {
    "reset": "reset at both ends",
    "kernel": "reset by the kernels (`ss -K`)",
    "vanish": "half-open: gone at the bots' end, silent at the server's",
    "cut": f"cable cut for {CUT_SECONDS:g} s",
    "late": f"{DELAY[0]} ± {DELAY[1]} s late, {float(LOSS[0]):.0%} of the pieces sent twice",
}


@dataclass
class Outcome:
    """What came of it."""

    storms: list[tuple[str, int, float]] = field(default_factory=list)
    """What broke, for how many connections, and the seconds from then on until all were back."""
    matches: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def storm(cable: Cable, bots: int) -> Outcome:
    """Break the line in every way, one after the other, and see that all is well again."""
    outcome = Outcome()
    cable.play("60+1", bots, THINK, f"--set=server.drain_seconds={DRAIN_SECONDS}", groups=max(1, bots // 250))
    if not cable.wait_log(": here from", bots, BACK_SECONDS):
        raise RuntimeError(f"the bots did not come in: {cable.log[-2000:]}")
    cable.wait(bots // 8)
    for what in WHAT:
        returned = _returned(cable)
        open_ = cable.order("delay", "0", "0")
        began = time.monotonic()
        match what:
            case "reset" | "vanish":
                cable.order(what)
            case "kernel":
                cable.reset()
            case "cut":
                cable.cut()
                cable.order("listen")
                time.sleep(CUT_SECONDS)
                cable.mend()
            case "late":
                cable.order("delay", *DELAY)
                cable.order("drop", *LOSS)
                cable.order("listen")
        while missing := _missing(cable, what, returned + open_):
            if time.monotonic() >= began + BACK_SECONDS:
                outcome.faults.append(f"{what}: {missing} of {open_} were not back after {BACK_SECONDS} s")
                break
            time.sleep(0.05)
        seconds = time.monotonic() - began
        outcome.storms.append((what, open_, seconds))
        cable.wait(len(cable.records()) + bots // 8)
    if cable.server is None:
        raise RuntimeError("there is no server")
    cable.server.send_signal(signal.SIGTERM)
    code = cable.server.wait(DRAIN_SECONDS + 30)
    if code:
        outcome.faults.append(f"after SIGTERM the server ended with {code}: {cable.log[-2000:]}")
    asyncio.run(_hold(f"sqlite:///{cable.folder / 'arena.db'}", outcome))
    return outcome


def _missing(cable: Cable, what: str, returned: int) -> int:
    """How many are not back: who was thrown out comes in again, and who was not hears from the server again."""
    return max(0, returned - _returned(cable)) if what in BROKEN else cable.order("silent")


def _returned(cable: Cable) -> int:
    """How often a bot has come in so far, with its session or without."""
    log = cable.log
    return log.count(": back from") + log.count(": here from")


async def _hold(database: str, outcome: Outcome) -> None:
    """Each match that was begun has ended, once, and as the rules say."""
    async with open_store(database) as engine, engine.connect() as connection:
        rows = (
            await connection.execute(
                sa.select(schema.matches, schema.records.c.packed).outerjoin(schema.records)
            )
        ).all()
    outcome.matches = len(rows)
    for row in rows:
        if row.packed is None:
            outcome.faults.append(f"{row.match} has not ended")
            continue
        record = from_line(record_in(row.packed))
        outcome.reasons[record.result.reason.value] += 1
        check_end(record, outcome.faults.append)


def main() -> int:
    """Run it and print what came of it; 1 for any fault."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("--bots", type=int, default=500)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="arena-storm-") as folder:
        try:
            with laid(Path(folder), between=True) as cable:
                outcome = storm(cable, given.bots)
        except NoCable as why:
            print(why)
            return 1
    for what, connections, seconds in outcome.storms:
        print(f"{WHAT[what]}: {connections} connections, all back after {seconds:.1f} s")
    ends = ", ".join(f"{reason} {count}" for reason, count in outcome.reasons.most_common())
    print(f"{outcome.matches} matches, ended by {ends}")
    return report(outcome.faults)


if __name__ == "__main__":
    sys.exit(main())
