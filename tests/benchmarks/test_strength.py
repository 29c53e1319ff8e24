"""benchmarks.engine.strength: maps as files, pairs added up, and an engine of a checkout in a match."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from arena.lab.variants import HELD_OUT_MAPS, load_map_variant
from arena.maps.map_file import read_map_file
from benchmarks.engine.strength import (
    REPOSITORY_FOLDER,
    MatchPairScores,
    format_map_as_toml,
    make_engine_spec_for_checkout,
    play_match_pairs,
    sum_match_pair_scores,
)
from testkit.tools import skip_without

skip_without("numba")


def test_a_map_that_is_written_is_read_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "variant.toml"
    for name in HELD_OUT_MAPS:
        map = load_map_variant(name)
        file.write_text(format_map_as_toml(map), encoding="utf-8")
        assert read_map_file(file).map == replace(map, name="variant"), name


def test_the_pairs_of_all_maps_are_added_up() -> None:
    whole = sum_match_pair_scores([MatchPairScores((1, 0, 2, 0, 3), 1), MatchPairScores((0, 1, 0, 4, 0), 2)])
    assert whole == MatchPairScores((1, 1, 2, 4, 3), 3)


RESIGNS = """
import sys

for line in sys.stdin:
    print('{"ready": true}' if '"start"' in line else '{"resign": "as this checkout does"}', flush=True)
"""


def test_the_code_of_a_checkout_plays_and_not_that_of_this_one(tmp_path: Path) -> None:
    folder = tmp_path / "arena" / "bots" / "engines"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent, folder.parents[1]):
        (package / "__init__.py").touch()
    (folder / "isolated.py").write_text(RESIGNS, encoding="utf-8")
    score = play_match_pairs(
        "m2:cap=30",
        make_engine_spec_for_checkout(REPOSITORY_FOLDER, "random"),
        make_engine_spec_for_checkout(tmp_path, "greedy"),
        "60/move",
        2,
        1,
    )
    assert score == MatchPairScores((0, 0, 0, 0, 2), 0)
