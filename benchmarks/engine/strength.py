"""Elo difference of two engines at equal time, measured by pairs of matches from the same openings on several maps.

    python -m benchmarks.engine.strength alphabeta alphabeta:evaluator=plain
    python -m benchmarks.engine.strength alphabeta alphabeta --checkout ../earlier --tc 0.05/move --tc 10+0.1
    python -m benchmarks.engine.strength jamboree:threads=2 jamboree:threads=1 --map world --map usa --concurrency 1

With --checkout the second engine comes from another checkout, created with `git worktree add ../earlier COMMIT`. Both
engines then run in processes of their own, so that the delay of a pipe affects both alike.

`arena match` plays the matches, on each map with its built-in openings, or else with balanced random openings from
`arena openings make`. (After an unbalanced opening, the same seat wins both matches of a pair.) A third repetition is a
draw. The table shows Elo with 95 % intervals, for each map and for all pairs.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from arena.games.riskless_map import RisklessMap
from arena.lab.variants import HELD_OUT_MAPS, load_map_variant
from arena.ladder.reports.standings import FORFEIT_FIELD_BY_COLUMN
from arena.maps.loader import list_built_in_map_names
from arena.maps.openings_file import find_shipped_openings_file
from arena.rating.pentanomial import PairScoreCounts, estimate_elo_difference
from benchmarks.kit.results import make_argument_parser

REPOSITORY_FOLDER = Path(__file__).parents[2]
MAKE_OPENINGS_OPTIONS = ("--plies", "6", "--nodes", "8000", "--gap", "0", "--strengths", "2000")
"""Options of `arena openings make` for maps without built-in openings: 6 random plies, checked by a search of 8,000 nodes."""


def format_map_as_toml(map: RisklessMap) -> str:
    """Return a map in the TOML format of map files, in which each territory lists the indices of its neighbours."""
    lines = [f"{key} = {getattr(map, key)}" for key in ("territory_cap", "armies_to_win", "ply_limit")]
    for territory, name in enumerate(map.territories):
        lines += [
            "[[territory]]",
            f"name = {json.dumps(name)}",
            f"place = {json.dumps(map.places[territory])}",
        ]
        lines.append(f"roads = {json.dumps(map.neighbours[territory])}")
        if armies := map.start[territory]:
            lines.append(f'start = ["{"maxie" if armies > 0 else "minnie"}", {abs(armies)}]')
    return "\n".join(lines) + "\n"


def make_engine_spec_for_checkout(checkout_folder: Path, engine_name: str) -> str:
    """Return the engine spec by which `arena match` runs an engine of another checkout, in a process of its own.

    checkout_folder: folder of that checkout
    engine_name: spec of the engine in that checkout, such as `alphabeta:evaluator=plain`
    """
    path = f"PYTHONPATH={checkout_folder.resolve()}"
    return "exec:" + shlex.join(
        ["env", path, sys.executable, "-P", "-m", "arena.bots.engines.isolated", engine_name]
    )


@dataclass(frozen=True)
class MatchPairScores:
    """Score of the first engine in pairs of matches from the same opening, with seats swapped.

    pair_score_counts: number of pairs in which the engine got 0, ½, 1, 1½ and 2 points
    forfeit_count: number of matches that either engine forfeited
    """

    pair_score_counts: PairScoreCounts
    forfeit_count: int

    def __str__(self) -> str:
        elo = estimate_elo_difference(self.pair_score_counts)
        if elo is None:
            return f"0 | | {self.forfeit_count}"
        interval = f"{elo.elo - elo.elo_error:+.0f} to {elo.elo + elo.elo_error:+.0f}"
        return f"{sum(self.pair_score_counts)} | {elo.elo:+.0f} ({interval}) | {self.forfeit_count}"


def run_arena_command(*arguments: str) -> None:
    """Run `arena` with `arguments`, and discard its output. Raises CalledProcessError if the exit code is not 0."""
    command = [sys.executable, "-m", "arena", *arguments]
    subprocess.run(
        command, cwd=REPOSITORY_FOLDER, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def play_match_pairs(
    map: str, first_engine: str, second_engine: str, time_control: str, round_count: int, concurrency: int
) -> MatchPairScores:
    """Play `round_count` pairs of matches (same opening, seats swapped) on one map, and return the first engine's score.

    time_control: such as `10+0.1`; concurrency: number of matches in parallel, 0 for as many as the cores allow
    """
    with tempfile.TemporaryDirectory(prefix="arena-strength-") as folder:
        map_name, table = map, Path(folder) / "table.json"
        if map not in list_built_in_map_names():
            path = Path(folder) / "variant.toml"
            path.write_text(format_map_as_toml(load_map_variant(map)), encoding="utf-8")
            map_name = str(path)
        openings = "shipped"
        if find_shipped_openings_file(map) is None:
            openings = str(Path(folder) / "openings.txt")
            run_arena_command(
                *("openings", "make", "--map", map_name, "--count", str(round_count)),
                *MAKE_OPENINGS_OPTIONS,
                *("--output", openings),
            )
        run_arena_command(
            *("match", first_engine, second_engine),
            *("--name-a", "one", "--name-b", "other"),
            *("--map", map_name, "--openings", openings, "--tc", time_control),
            *("--rounds", str(round_count), "--concurrency", str(concurrency)),
            *("--record", str(Path(folder) / "record.jsonl"), "--json", str(table)),
        )
        data = json.loads(table.read_text(encoding="utf-8"))
    return MatchPairScores(
        tuple(data["pairs"]), sum(row[column] for row in data["table"] for column in FORFEIT_FIELD_BY_COLUMN)
    )


def sum_match_pair_scores(scores: Sequence[MatchPairScores]) -> MatchPairScores:
    """Return the sum of several scores, such as the scores on all maps."""
    pairs = tuple(map(sum, zip(*(score.pair_score_counts for score in scores), strict=True)))
    return MatchPairScores(pairs, sum(score.forfeit_count for score in scores))


def play_table_rows(arguments: argparse.Namespace, first_engine: str, second_engine: str) -> Iterator[str]:
    """Play on each map with each time control, and yield each row of the table of Elo differences once it is measured.

    arguments: command line of this benchmark; first_engine, second_engine: specs of the two engines
    """
    for time_control in arguments.tc:
        results = []
        for map in arguments.map or HELD_OUT_MAPS:
            results.append(
                play_match_pairs(
                    map, first_engine, second_engine, time_control, arguments.rounds, arguments.concurrency
                )
            )
            yield f"| {map} | {time_control} | {results[-1]} |"
        yield f"| **all** | {time_control} | {sum_match_pair_scores(results)} |"


def main() -> None:
    """Play the matches of the two engines, and print the table of Elo differences row by row."""
    parser = make_argument_parser(__doc__)
    parser.add_argument("first", help="first engine, run from this checkout, e.g. alphabeta:evaluator=plain")
    parser.add_argument("second", help="second engine, run from --checkout if given, else from this checkout")
    parser.add_argument(
        "--checkout",
        type=Path,
        help="git checkout with the code of the second engine; default: this checkout",
    )
    parser.add_argument(
        "--map",
        action="append",
        help="map to play on; may be repeated; default: the maps on which the shipped weights were not trained",
    )
    parser.add_argument(
        "--tc", action="append", help="time control; may be repeated; default: 0.1/move (0.1 s a move)"
    )
    parser.add_argument(
        "--rounds", type=int, default=10, help="number of pairs of matches on each map; default: 10"
    )
    parser.add_argument(
        "--concurrency",
        type=int,
        default=0,
        help="number of parallel matches; default: 0, as many as the cores allow",
    )
    arguments = parser.parse_args()
    arguments.tc = arguments.tc or ["0.1/move"]
    first, second = arguments.first, arguments.second
    if arguments.checkout is not None:
        first, second = (
            make_engine_spec_for_checkout(REPOSITORY_FOLDER, first),
            make_engine_spec_for_checkout(arguments.checkout, second),
        )
    print("| map | time control | pairs | Elo (95 %) | forfeits |\n| --- | --- | --- | --- | --- |")
    for row in play_table_rows(arguments, first, second):
        print(row, flush=True)


if __name__ == "__main__":
    main()
