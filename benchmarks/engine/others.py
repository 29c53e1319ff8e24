"""A ladder of ours against what others wrote, at equal time: easyAI, OpenSpiel's search, and a plain alpha-beta in C."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from statistics import mean

import anyio

from arena.ladder.event import Ladder
from arena.ladder.openings import openings_of_maps
from arena.ladder.plan import BotPlan, LadderPlan, engine_bot
from arena.ladder.play import run_ladder
from arena.maps.setup import make_setup
from arena.protocol.codes import FORFEITS
from arena.protocol.record import Record
from arena.protocol.timecontrol import TimeControl
from arena.rating.standings import Row, is_void, losers
from benchmarks.kit.measure import Section

EXAMPLES = Path(__file__).parents[2] / "examples"
MAP = "italy"
TIME = "0.1/move"
MARGIN_MS = 1000
"""What a busy machine may hold up a bot without costing it the match; the table has the time that each took."""
PAIRS = 5
OURS = "alphabeta"
PLAYED_BY = {
    "alphabeta": "this project's alpha-beta, compiled",
    "C": "`examples/alphabeta.c`: alpha-beta by deepening, army difference, no table, gcc -O3",
    "easyAI": "`examples/easyai_bot.py`: easyAI's Negamax with its table, by deepening, army difference",
    "OpenSpiel": "`examples/openspiel_bot.py`: OpenSpiel's MCTS in Python with the same estimate at its leaves",
}


class Watcher:
    """Tells how far the ladder is."""

    def played(self, ladder: Ladder, record: Record) -> None:
        """A match is over."""
        who = f"{record.players.maxie} - {record.players.minnie}"
        print(f"{len(ladder.played)} of {ladder.matches}: {who}: {record.result.winner}", flush=True)

    def notice(self, text: str) -> None:
        """Something went wrong with a bot."""
        print(text, flush=True)


def run(pairs: int = 0) -> Section:
    """Play the ladder, `pairs` pairs for each two bots."""
    pairs = pairs or PAIRS
    with tempfile.TemporaryDirectory(prefix="arena-benchmark-") as made:
        ladder = _played(Path(made), pairs)
    rows = ladder.table()
    forfeits = Counter(
        bot for record in ladder.records if record.result.reason in FORFEITS for bot in losers(record)
    )
    lost = ", ".join(f"{count} by {bot}" for bot, count in forfeits.most_common()) or "none"
    return Section(
        "Against what others wrote",
        f"Riskless on {MAP} at {TIME} for everybody, every two bots {pairs} pairs from the map's openings, each bot a process "
        f"of its own with one thread. The adapters play by the arena's rules in Python; C and ours have their own.",
        ["bot", "what it is", "points", "of", "Elo", "±", "ms a move"],
        [[*row_of(row), f"{mean_ms(ladder.records, row.bot):.0f}"] for row in rows],
        note=f"`{OURS}` scored {against(ladder)}. Of {len(ladder.records)} matches forfeited: {lost}. Elo is relative to the "
        "average of these bots.",
    )


def _played(folder: Path, pairs: int) -> Ladder:
    program = folder / "alphabeta"
    words = ["gcc", "-O3", "-march=native", "-o", str(program), str(EXAMPLES / "alphabeta.c")]
    subprocess.run(words, check=True)
    others = {
        "C": f"exec:{shlex.quote(str(program))}",
        "easyAI": str(EXAMPLES / "easyai_bot.py"),
        "OpenSpiel": str(EXAMPLES / "openspiel_bot.py"),
    }
    bots: list[BotPlan] = [engine_bot(OURS)]
    bots += [replace(engine_bot(engine), name=name) for name, engine in others.items()]
    game = make_setup("riskless", MAP)
    plan = LadderPlan(
        tuple(bots),
        event="others",
        maps=(MAP,),
        time_control=TimeControl.parse(TIME),
        rounds=pairs,
        margin_ms=MARGIN_MS,
    )
    openings = openings_of_maps([MAP], [game], plan.seed)
    ladder = Ladder(plan, [game], folder / "record.jsonl", openings=openings)
    anyio.run(run_ladder, ladder, Watcher(), backend_options={"use_uvloop": True})
    return ladder


def row_of(row: Row) -> list[str]:
    """A bot's line of the table."""
    what = PLAYED_BY[row.bot]
    return [row.bot, what, f"{row.points:g}", str(row.games), f"{row.elo:+z.0f}", f"{row.elo_error:.0f}"]


def mean_ms(records: Iterable[Record], bot: str) -> float:
    """How long a bot took for a move on the average, those of openings left out."""
    own = [
        move.ms
        for record in records
        for ply, move in enumerate(record.moves)
        if not move.opening and bot == (record.players.minnie if ply % 2 else record.players.maxie)
    ]
    return mean(own or [0.0])


def against(ladder: Ladder) -> str:
    """What ours scored against each of the others, in words."""
    scores: dict[str, list[float]] = {}
    for record in ladder.records:
        names = {record.players.maxie, record.players.minnie}
        if OURS in names and not is_void(record):
            lost = losers(record)
            (other,) = names - {OURS}
            scores.setdefault(other, []).append(0.5 if not lost else float(OURS not in lost))
    return ", ".join(f"{sum(each):g} of {len(each)} against {other}" for other, each in scores.items())
