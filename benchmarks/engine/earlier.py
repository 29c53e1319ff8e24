"""The engine against earlier states of the repository's: time to equal exact depth, and matches at equal time.

git worktree add ../earlier COMMIT
python -m benchmarks earlier --checkout ../earlier

All of them run by this one's Python and play on this one's maps.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.games.core import Player
from arena.games.riskless import Armies, Riskless
from arena.maps.loader import map_names
from arena.match.recurrence import Recurrence
from arena.protocol.adjudication import DEFAULT_RULES
from arena.rating.elo import Z95
from benchmarks.engine.contest import STARTS, Score, start_of, together
from benchmarks.engine.worker import TABLE_MB
from benchmarks.kit.kept import Kept
from benchmarks.kit.measure import Ratio, Section, game, positions, short
from benchmarks.kit.results import claim

ROOT = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("worker.py")
DEPTH_MAPS = ("world", "m2")
COUNT = 7
SECONDS = 1.0
"""What the earlier engine may take to say how deep both search."""
TURNS = 3
EVALUATORS = ("features", "plain")
"""Of the earlier engine: what it plays with unless it is told otherwise, and the difference of armies."""
PLAY_MAPS = ("world", "usa", "italy", "poland", "grid:7x6", "ring:20", "world:cap=50", "usa:cap=50")
"""Maps that decide: the shipped ones; a generated one of each kind as it is made, the ring with a cap of 100; and the two large
ones with a cap of 50."""
PLAY_SECONDS = 0.05
PAIRS = 20
LEAST_PAIRS = 4
SURE = 3.29
"""Standard errors of the Elo from what was promised at which matches end: those of 99.9 %."""
LEAST_ELO = 150
MOST_TIME = 0.7


class Worker:
    """An engine of a checkout, in one game: see `benchmarks.engine.worker`."""

    def __init__(self, checkout: Path, game: Riskless, *, exact: bool, evaluator: str) -> None:
        options = [f"exact={'yes' if exact else 'no'}", f"evaluator={evaluator}"]
        self._process = subprocess.Popen(
            [sys.executable, WORKER.absolute(), *options],
            cwd=checkout,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._tell(game.setup())

    def _tell(self, what: object) -> None:
        given = self._process.stdin
        if given is None:
            raise ValueError("the worker has no pipes")
        given.write(json.dumps(what) + "\n")
        given.flush()

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        taken = self._process.stdout
        if taken is None:
            raise ValueError("the worker has no pipes")
        self._tell(question)
        line = taken.readline()
        if not line:
            raise EOFError("the worker has ended: what it says is above")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def clear(self) -> None:
        """Empty its table."""
        self._ask({"clear": True})

    def search(self, position: Armies, **limit: float) -> dict[str, Any]:
        """To a depth, with so many nodes, or for so many seconds."""
        return self._ask(
            {"armies": position.armies, "player": position.player.sign, "ply": position.ply, **limit}
        )

    def close(self) -> None:
        """End the process."""
        # closes its pipes and waits for it
        with self._process:
            pass


@dataclass(frozen=True)
class Earlier:
    """A checkout of an earlier state, and which commit that is, with its day: 3317f74 of 2026-11-22."""

    checkout: Path
    commit: str

    @classmethod
    def at(cls, checkout: Path) -> Earlier:
        """What is checked out there."""
        command = ["git", "-C", str(checkout), "log", "-1", "--format=%h of %cs"]
        told = subprocess.run(command, check=True, capture_output=True, text=True)
        return cls(checkout, told.stdout.strip())


@contextmanager
def both(
    earlier: Earlier, map: str, evaluators: tuple[str, str], *, exact: bool
) -> Iterator[tuple[Worker, Worker]]:
    """This repository's engine, and the earlier one, each with its evaluator."""
    with ExitStack() as stack:
        workers = [
            Worker(checkout, game(map), exact=exact, evaluator=evaluator)
            for checkout, evaluator in zip((ROOT, earlier.checkout), evaluators, strict=True)
        ]
        for worker in workers:
            stack.callback(worker.close)
        for worker in workers:
            worker.clear()
        yield workers[0], workers[1]


def times(earlier: Earlier, map: str, evaluator: str, kept: Kept) -> list[dict[str, float]]:
    """For each of some positions: the depth, and what both engines take to it, their quickest of TURNS."""
    name = f"depth {earlier.commit} {map} {evaluator}"
    if kept.get(name) is None:
        kept.check()
        found = []
        with both(earlier, map, (evaluator, evaluator), exact=True) as (present, other):
            for position in positions(game(map), COUNT):
                other.clear()
                depth = other.search(position, seconds=SECONDS)["depth"]
                seconds: list[list[float]] = [[], []]
                for _ in range(TURNS):
                    answers = []
                    for engine, taken in zip((present, other), seconds, strict=True):
                        engine.clear()
                        answers.append(engine.search(position, depth=depth))
                        taken.append(answers[-1]["seconds"])
                    if evaluator == "plain":
                        check(answers)
                found.append({"depth": depth, "present": min(seconds[0]), "earlier": min(seconds[1])})
        kept.add(name, found)
    return list(kept.get(name))


def check(answers: Sequence[dict[str, Any]]) -> None:
    """With the same evaluator both find the same value and the same leftmost move."""
    if len({(str(answer["move"]), answer["value"]) for answer in answers}) > 1:
        raise AssertionError(f"not the same search: {answers}")


def matches(earlier: Earlier, evaluator: str, pairs: int, kept: Kept) -> dict[str, Score]:
    """Pairs on each map, this engine as it plays against the earlier one with that evaluator, at PLAY_SECONDS a move.

    Maps take turns pair by pair. After LEAST_PAIRS on each, none are played any more once it is beyond doubt (SURE) on which
    side of what was promised the Elo is.
    """
    scores = {map: Score() for map in PLAY_MAPS}
    with ExitStack() as stack:
        engines: dict[str, tuple[Worker, Worker]] = {}
        for seed in range(pairs):
            found = together(list(scores.values())) if seed >= LEAST_PAIRS else None
            if found and abs(found.difference.elo - LEAST_ELO) > found.difference.error * SURE / Z95:
                break
            for map, score in scores.items():
                name = f"match {earlier.commit} {evaluator} {map} {PLAY_SECONDS} {seed}"
                if kept.get(name) is None:
                    kept.check()
                    if map not in engines:
                        ways = both(earlier, map, ("features", evaluator), exact=False)
                        engines[map] = stack.enter_context(ways)
                    kept.add(name, [play(game(map), engines[map], seat, seed) for seat in Player])
                score.points.append(sum(kept.get(name)))
                score.drawn += kept.get(name).count(0.5)
    return scores


def play(
    board: Riskless,
    engines: tuple[Worker, Worker],
    seat: Player,
    seed: int,
    seconds: float = PLAY_SECONDS,
) -> float:
    """A match from an opening, the first engine in this seat: its points."""
    position = start_of(board, seed)
    seats = dict(zip((seat, seat.opponent), engines, strict=True))
    seen = Recurrence(board)
    for engine in engines:
        engine.clear()
    while (outcome := board.outcome(position)) is None:
        if seen.add(position) == DEFAULT_RULES.repetition:
            return 0.5
        source, target = seats[position.player].search(position, seconds=seconds)["move"]
        position = board.play(position, (source, target))
    return 0.5 if outcome.winner is None else float(outcome.winner is seat)


def run(
    checkout: Sequence[Path],
    pairs: int = PAIRS,
    raw: Path | None = None,
    seconds: float | None = None,
) -> Section:
    """This engine against those of the checkouts, each in a process in its own checkout; matches against the first of them."""
    kept = Kept(raw, seconds)
    every = [Earlier.at(each) for each in checkout]
    rows: list[list[str]] = []
    claims: list[str] = []
    for earlier in every:
        depth_rows(earlier, kept, rows, claims)
    for evaluator in EVALUATORS:
        match_rows(every[0], evaluator, pairs, kept, rows, claims)
    return Section(
        "Against earlier engines of this repository",
        f"Earlier engines, each in a process in its own checkout, against this one in another; one thread, tables of "
        f"{TABLE_MB} MB, all seconds those of the processor, so that the load of the machine has no say. Time: exact mode, "
        f"{COUNT} middle-game positions, empty tables, to the depth that the earlier one reaches in {SECONDS:g} s, the best of "
        f"{TURNS} by turns; with the evaluator `plain` both search for the same value and leftmost move, which is checked, and "
        "`features` is to each its own. Matches: this engine as it plays against the first of the earlier ones as it plays, with its "
        f"`features`, and with its other evaluator, `plain`; {STARTS}, with seats swapped; a "
        "position that comes up for the third time is a draw. After "
        f"{LEAST_PAIRS} pairs on each map, matches end once the 99.9 % interval has the promised Elo outside.",
        ["", "this one", "earlier", "ratio"],
        rows,
        f"All play on this state's maps.{kept.told}",
        claims,
    )


def depth_rows(earlier: Earlier, kept: Kept, rows: list[list[str]], claims: list[str]) -> None:
    """Add what both engines take to equal exact depth."""
    for evaluator in EVALUATORS:
        for map in DEPTH_MAPS:
            found = times(earlier, map, evaluator, kept)
            ratio = Ratio([each["present"] / each["earlier"] for each in found])
            depths = [int(each["depth"]) for each in found]
            what = f"{earlier.commit}: time to exact depth {min(depths)} to {max(depths)} on {map}, `{evaluator}`"
            medians = [
                short(Ratio([1000 * each[which] for each in found]).median) + " ms"
                for which in ("present", "earlier")
            ]
            rows.append([what, *medians, f"**{ratio}** ×"])
            if evaluator == "features":
                what = f"time to equal exact depth on {map}, against this repository's engine of {earlier.commit}"
                claims.append(claim(what, f"at most {MOST_TIME} ×", f"{ratio} ×"))


def match_rows(
    earlier: Earlier, evaluator: str, pairs: int, kept: Kept, rows: list[list[str]], claims: list[str]
) -> None:
    """Add what the matches against one evaluator of an earlier engine came to."""
    scores = matches(earlier, evaluator, pairs, kept)
    whole = together(list(scores.values()))
    shipped = together([score for map, score in scores.items() if map in map_names()])
    for map, score in (*scores.items(), ("those that ship", shipped), ("all", whole)):
        count, points, drawn, elo = score.cells
        what = (
            f"{earlier.commit} with `{evaluator}`: matches on {map}, {PLAY_SECONDS:g} s a move, {count} pairs"
        )
        rows.append([what, points, f"{drawn} drawn", f"**{elo}** Elo"])
        print(*rows[-1], flush=True)
    with_it = "" if evaluator == "features" else f" with its evaluator `{evaluator}`"
    what = f"the engine against this repository's engine of {earlier.commit}{with_it}, {PLAY_SECONDS:g} s a move, Elo"
    found = f"{whole.elo}, {len(whole.points)} pairs; on the shipped maps alone {shipped.elo}"
    claims.append(claim(what, f"at least +{LEAST_ELO}", found))
