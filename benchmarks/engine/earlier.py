"""The engine against an earlier state of the repository's: time to equal exact depth, and matches at equal time.

git worktree add ../earlier COMMIT && make -C ../earlier .venv/.installed
python -m benchmarks earlier --checkout ../earlier
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.engine.contest import PLIES, Score
from benchmarks.engine.worker import TABLE_MB
from benchmarks.kit.kept import Kept
from benchmarks.kit.measure import Ratio, Section, game, positions, short
from benchmarks.kit.results import claim
from bots.compiled.learning.selfplay import opening
from games.core import Player
from games.riskless import Armies, Riskless
from match.recurrence import Recurrence
from protocol.adjudication import DEFAULT_RULES

ROOT = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("worker.py")
DEPTH_MAPS = ("world", "m2")
COUNT = 7
SECONDS = 1.0
"""What the earlier engine may take to say how deep both search."""
TURNS = 3
EVALUATORS = ("plain", "features")
PLAY_MAPS = ("world", "usa", "italy", "poland")
PLAY_SECONDS = 0.05
PAIRS = 10
LEAST_ELO = 150
MOST_TIME = 0.7


class Worker:
    """An engine of a checkout, on one map: see `benchmarks.engine.worker`."""

    def __init__(self, checkout: Path, map: str, *, exact: bool, evaluator: str) -> None:
        python = Path(sys.executable) if checkout == ROOT else checkout / ".venv" / "bin" / "python"
        if not python.exists():
            raise FileNotFoundError(
                f"{checkout} has no .venv: `make -C {checkout} .venv/.installed` makes it"
            )
        options = [f"exact={'yes' if exact else 'no'}", f"evaluator={evaluator}"]
        self._process = subprocess.Popen(
            [python.absolute(), WORKER.absolute(), ROOT.absolute() / "maps" / f"{map}.toml", *options],
            cwd=checkout,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        given, taken = self._process.stdin, self._process.stdout
        if given is None or taken is None:
            raise ValueError("the worker has no pipes")
        given.write(json.dumps(question) + "\n")
        given.flush()
        line = taken.readline()
        if not line:
            raise EOFError("the worker has ended: what it says is above")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def clear(self) -> None:
        """Empty its table."""
        self._ask({"clear": True})

    def search(self, position: Armies, **limit: float) -> dict[str, Any]:
        """To a depth, or for so many seconds."""
        return self._ask(
            {"armies": position.armies, "player": position.player.sign, "ply": position.ply, **limit}
        )

    def close(self) -> None:
        """End the process."""
        # closes its pipes and waits for it
        with self._process:
            pass


@contextmanager
def both(
    checkout: Path, map: str, *, exact: bool, evaluator: str = "features"
) -> Iterator[tuple[Worker, Worker]]:
    """This repository's engine, and the other checkout's."""
    with ExitStack() as stack:
        workers = [Worker(each, map, exact=exact, evaluator=evaluator) for each in (ROOT, checkout)]
        for worker in workers:
            stack.callback(worker.close)
        for worker in workers:
            worker.clear()
        yield workers[0], workers[1]


def times(checkout: Path, map: str, evaluator: str, kept: Kept) -> list[dict[str, float]]:
    """For each of some positions: the depth, and what both engines take to it, their quickest of TURNS."""
    name = f"depth {map} {evaluator}"
    if kept.get(name) is None:
        kept.check()
        found = []
        with both(checkout, map, exact=True, evaluator=evaluator) as (present, earlier):
            for position in positions(game(map), COUNT):
                earlier.clear()
                depth = earlier.search(position, seconds=SECONDS)["depth"]
                seconds: list[list[float]] = [[], []]
                for _ in range(TURNS):
                    answers = []
                    for engine, taken in zip((present, earlier), seconds, strict=True):
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


def matches(checkout: Path, map: str, pairs: int, kept: Kept) -> Score:
    """Pairs of both as they play, at PLAY_SECONDS a move."""
    board = game(map)
    names = [f"match {map} {PLAY_SECONDS} {seed}" for seed in range(pairs)]
    if any(kept.get(name) is None for name in names):
        kept.check()
        with both(checkout, map, exact=False) as engines:
            for seed, name in enumerate(names):
                if kept.get(name) is None:
                    kept.check()
                    kept.add(name, [play(board, engines, seat, seed) for seat in Player])
    score = Score()
    for name in names:
        score.points.append(sum(kept.get(name)))
        score.drawn += kept.get(name).count(0.5)
    return score


def play(
    board: Riskless,
    engines: tuple[Worker, Worker],
    seat: Player,
    seed: int,
    seconds: float = PLAY_SECONDS,
) -> float:
    """A match from a random opening, the first engine in this seat: its points."""
    rng = random.Random(seed)
    position = opening(board, rng, rng.randint(*PLIES))
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
    pairs: int = PAIRS,
    checkout: Path = ROOT,
    raw: Path | None = None,
    seconds: float | None = None,
) -> Section:
    """Both engines, each in a process of its own checkout."""
    kept = Kept(raw, seconds)
    commit = subprocess.run(
        ["git", "-C", checkout, "log", "-1", "--format=%h of %cs"], check=True, capture_output=True, text=True
    ).stdout.strip()
    rows = []
    claims = []
    for evaluator in EVALUATORS:
        for map in DEPTH_MAPS:
            found = times(checkout, map, evaluator, kept)
            ratio = Ratio([each["present"] / each["earlier"] for each in found])
            depths = [int(each["depth"]) for each in found]
            rows.append(
                [
                    f"time to exact depth {min(depths)} to {max(depths)} on {map}, evaluator `{evaluator}`",
                    *(
                        short(Ratio([1000 * each[which] for each in found]).median) + " ms"
                        for which in ("present", "earlier")
                    ),
                    f"**{ratio}** ×",
                ]
            )
            if evaluator == "features":
                what = f"time to equal exact depth on {map}, against this repository's engine of {commit}"
                claims.append(claim(what, f"at most {MOST_TIME} ×", f"{ratio} ×"))
    scores = [matches(checkout, map, pairs, kept) for map in PLAY_MAPS]
    whole = Score([each for score in scores for each in score.points], sum(score.drawn for score in scores))
    for map, score in zip((*PLAY_MAPS, "all"), (*scores, whole), strict=True):
        count, points, drawn, elo = score.cells
        what = f"matches on {map}, {PLAY_SECONDS:g} s a move, {count} pairs"
        rows.append([what, points, f"{drawn} drawn", f"**{elo}** Elo"])
    what = f"the engine against this repository's engine of {commit}, {PLAY_SECONDS:g} s a move, Elo"
    claims.append(claim(what, f"at least +{LEAST_ELO}", whole.elo))
    return Section(
        "Against an earlier engine of this repository",
        f"The engine of {commit}, in a process of its own checkout, against this one in another; one thread, tables of "
        f"{TABLE_MB} MB. Time: exact mode, {COUNT} middle-game positions, empty tables, to the depth that the earlier one "
        f"reaches in {SECONDS:g} s, seconds of the processor, the best of {TURNS} by turns; with the evaluator `plain` both "
        "search for the same value and leftmost move, which is checked, and `features` is to each its own. Matches: as they "
        f"play, each with its own weights, from {PLIES[0]} to {PLIES[1]} random plies, with seats swapped, by the clock; a "
        "position that comes up for the third time is a draw.",
        ["", "this one", "earlier", "ratio"],
        rows,
        f"Both play on this state's maps.{kept.told}",
        claims,
    )
