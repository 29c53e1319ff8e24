"""The shipped openings: each file fits its map, its openings lead to different positions, and none of them ends the match."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.catalogue import make_game
from arena.games.riskless import Riskless
from arena.games.riskless_map import RisklessMap
from arena.maps.game_on_map import make_game_on_map
from arena.maps.loader import list_built_in_map_names, load_map
from arena.maps.openings_file import (
    FINGERPRINT_LINE_PREFIX,
    OPENINGS_FOLDER,
    BadOpenings,
    compute_map_fingerprint,
    find_shipped_openings_file,
    read_openings,
)
from arena.match.openings import find_position_after
from tests.bots.command_line import arena
from tests.games.strategies import riskless_maps

DECIDED_MAPS = {"path4"}
"""Maps on which one player wins from the start, so that no opening is worth playing."""
MIN_OPENINGS = 20
"""Minimum number of openings of a map: more than most ladders have rounds."""

MAPS_WITH_OPENINGS = sorted(path.stem for path in OPENINGS_FOLDER.glob("*.txt"))


def test_every_shipped_map_except_the_decided_ones_has_an_openings_file() -> None:
    assert set(MAPS_WITH_OPENINGS) == set(list_built_in_map_names()) - DECIDED_MAPS
    assert {path.suffix for path in OPENINGS_FOLDER.iterdir()} == {".txt"}


@pytest.mark.parametrize("name", MAPS_WITH_OPENINGS)
def test_each_file_fits_its_map(name: str) -> None:
    """If this fails after a change of a map's numbers, roads or start, run `make openings`."""
    path = find_shipped_openings_file(name)
    assert path is not None
    game = make_game_on_map("riskless", name)
    listed = read_openings(path, [game])[0]
    assert len(listed) >= MIN_OPENINGS
    places = [game.repetition_key(find_position_after(game, opening)) for opening in listed]
    assert len(set(places)) == len(places)
    shorter, longer = ({len(opening) for opening in listed[first::2]} for first in (0, 1))
    assert [each + 1 for each in shorter] == list(longer), "both players have the first move equally often"
    assert (
        f"{FINGERPRINT_LINE_PREFIX} {compute_map_fingerprint(load_map(name))}"
        in path.read_text(encoding="utf-8").splitlines()
    )


@pytest.mark.slow
def test_the_command_in_the_first_line_of_a_file_makes_the_file(tmp_path: Path) -> None:
    """The first two openings do not depend on the number of openings. On a larger map they take 15 s."""
    path = find_shipped_openings_file("m1")
    assert path is not None
    shown = path.read_text(encoding="utf-8")
    command = shown.splitlines()[0].removeprefix("# arena ").split()
    made = tmp_path / "made.txt"
    done = arena(*command, "--count", "2", "--processes", "1", "--output", str(made))
    assert done.code == 0, done.stderr
    assert made.read_text(encoding="utf-8").splitlines()[1:] == shown.splitlines()[1:4]


@pytest.mark.parametrize(
    "name", ["path4", "ring:12", "grid:3x3", "my/m2.toml", "../openings/m2", "tictactoe"]
)
def test_other_maps_have_no_openings_file(name: str) -> None:
    assert find_shipped_openings_file(name) is None


CHANGES: dict[str, Any] = {
    "territory_cap": lambda made: made.territory_cap + 1,
    "armies_to_win": lambda made: made.armies_to_win - 1,
    "ply_limit": lambda made: made.ply_limit + 1,
    "neighbours": lambda made: (made.neighbours[0][::-1], *made.neighbours[1:]),
    "start": lambda made: tuple(-armies for armies in made.start),
}


@pytest.mark.parametrize("key", CHANGES)
def test_a_map_that_is_played_differently_has_another_fingerprint(key: str) -> None:
    map = load_map("m2")
    changed = replace(map, **{key: CHANGES[key](map)})
    assert changed != map
    assert compute_map_fingerprint(changed) != compute_map_fingerprint(map)


@given(riskless_maps(), st.text("abcdef", min_size=1, max_size=9))
def test_names_places_and_the_way_through_a_record_do_not_matter(made: RisklessMap, name: str) -> None:
    named = tuple(f"{name} {number}" for number in range(made.territory_count))
    drawn = tuple((float(number), 0.5) for number in range(made.territory_count))
    assert compute_map_fingerprint(
        replace(made, name=name, territories=named, places=drawn)
    ) == compute_map_fingerprint(made)
    assert compute_map_fingerprint(Riskless.from_setup(made.to_data()).map) == compute_map_fingerprint(made)


def test_a_file_for_another_state_of_the_map_is_refused_in_a_line() -> None:
    path = find_shipped_openings_file("m2")
    assert path is not None
    map = load_map("m2")
    setup = {**map.to_data(), "ply_limit": map.ply_limit + 1}
    with pytest.raises(
        BadOpenings, match=r"m2\.txt: made for another map.*but the map has [0-9a-f]{16}\): make new"
    ) as refused:
        read_openings(path, [make_game("riskless", setup)])
    assert "\n" not in str(refused.value)
