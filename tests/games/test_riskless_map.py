from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.games.core import BadData
from arena.games.graph import is_connected, is_simple, is_undirected
from arena.games.riskless_map import BadMap, RisklessMap
from arena.maps.loader import load_map
from tests.games.strategies import refusal, riskless_maps, spoiled

# a square a-b-d-c whose numbers are valid even if one of them is changed by 1
GOOD: dict[str, Any] = {
    "map": "square",
    "territories": ["a", "b", "c", "d"],
    "neighbours": [[1, 2], [0, 3], [0, 3], [1, 2]],
    "territory_cap": 5,
    "armies_to_win": 12,
    "ply_limit": 100,
    "start": [["maxie", 2], None, None, ["minnie", 3]],
    "places": [[0, 0], [1, 0], [0, 1], [1, 1]],
}

NAN = float("nan")

BROKEN: list[tuple[str, Any, str]] = [
    ("map", None, "must be text, not None"),
    ("territories", None, "must be a list, not None"),
    ("territories", "abcd", "must be a list"),
    ("territories", ["a"], "there must be 2 to 1000 territories, not 1"),
    ("territories", ["a"] * 1001, "there must be 2 to 1000 territories, not 1001"),
    ("territories", ["a", "b", "c", 4], "must be text, not 4"),
    ("territories", ["a", "b", "c", ""], "'' is not a valid name"),
    ("territories", ["a", "b", "c", " d"], "is not a valid name"),
    ("territories", ["a", "b", "c", "d  d"], "is not a valid name"),
    ("territories", ["a", "b", "c", "d\n"], "is not a valid name"),
    ("territories", ["a", "b", "c", "d\x1b"], "is not a valid name"),
    ("territories", ["a", "b", "c", "d" * 41], "1 to 40 printable characters"),
    ("territories", ["a", "b", "c", "x>y"], "must not contain '>'"),
    (
        "territories",
        ["a", "b", "c", "1"],
        "'1' reads like the number of a territory, but its own number is 3",
    ),
    ("territories", ["a", "b", "c", "03"], "'03' reads like the number"),
    ("territories", ["a", "b", "c", "A"], "'A' is given twice"),
    ("neighbours", [[1], [0]], "there must be 4 lists of neighbours, one per territory, not 2"),
    ("neighbours", [[1, 2], [0, 3], [0, 3], "12"], "must be a list of numbers"),
    ("neighbours", [[1, 2], [0, 3], [0, 3], [1, 2.0]], "whole number"),
    ("neighbours", [[1, 2], [0, 3], [0, 3], [1, True]], "whole number"),
    ("neighbours", [[1, 2], [0, 3], [0, 3], [1, 4]], "d has a road to 4, but there is no such territory"),
    ("neighbours", [[1, 2], [0, 3], [0, 3], [1, -1]], "d has a road to -1, but there is no such territory"),
    ("neighbours", [[1, 2], [0, 3], [0, 3], [1, 2, 3]], "d has a road to itself"),
    ("neighbours", [[1, 2], [0, 3], [0, 3], [1, 2, 1]], "the road from d to b is given twice"),
    (
        "neighbours",
        [[1, 2], [0, 3], [0], [1, 2]],
        "the road from d to c has no road back: give it in both directions",
    ),
    ("neighbours", [[1], [0], [3], [2]], "no roads lead from a to c: the map must be connected"),
    ("territory_cap", 0, "whole number from 1 to 1000, not 0"),
    ("territory_cap", "5", "whole number"),
    ("territory_cap", True, "whole number"),
    ("territory_cap", 1001, "whole number from 1 to 1000, not 1001"),
    ("armies_to_win", 1, "whole number from 2 to 20"),
    ("armies_to_win", 21, r"from 2 to 20, not 21 \(the cap 5 times 4 territories\)"),
    ("ply_limit", 0, "whole number from 1 to 100000"),
    ("ply_limit", None, "whole number"),
    ("start", None, "must be a list"),
    ("start", [["maxie", 2], None, ["minnie", 3]], "there must be 4 start entries"),
    ("start", [["maxie", 2], None, None, ["minnie"]], r"null or \[player, armies\]"),
    ("start", [["maxie", 2], None, None, ["mini", 3]], "must be maxie or minnie, not 'mini'"),
    ("start", [["maxie", 2], None, None, ["minnie", 0]], "at least 1 army, not 0"),
    ("start", [["maxie", 2], None, None, ["minnie", 6]], "d has 6 armies, more than the cap of 5"),
    ("start", [["maxie", 2], None, None, None], "minnie needs at least one territory with armies"),
    ("start", [None, None, None, ["minnie", 3]], "maxie needs at least one territory with armies"),
    (
        "start",
        [["maxie", 5], ["maxie", 5], ["maxie", 2], ["minnie", 1]],
        "maxie starts with 12 armies, which already win",
    ),
    (
        "start",
        [["maxie", 2], ["minnie", 5], ["minnie", 5], ["minnie", 5]],
        "minnie starts with 15 armies, which already win",
    ),
    ("places", None, "must be a list"),
    ("places", [[0, 0]], "there must be 4 places"),
    ("places", [[0, 0], [1, 0], [0, 1], [1]], r"a place must be \[x, y\]"),
    ("places", [[0, 0], [1, 0], [0, 1], [1, "1"]], "a coordinate must be a number"),
    ("places", [[0, 0], [1, 0], [0, 1], [1, NAN]], "a coordinate must be a number"),
    ("places", [[0, 0], [1, 0], [0, 1], [1, float("inf")]], "a coordinate must be a number"),
    ("places", [[0, 0], [1, 0], [0, 1], [1, True]], "a coordinate must be a number"),
]


def test_the_good_map_is_good() -> None:
    assert RisklessMap.from_data(GOOD).to_data() == GOOD


@pytest.mark.parametrize(("key", "value", "why"), BROKEN)
def test_a_broken_map_says_which_key_and_why(key: str, value: Any, why: str) -> None:
    with pytest.raises(BadMap, match=why) as bad:
        RisklessMap.from_data({**GOOD, key: value})
    assert bad.value.key == key
    assert str(bad.value) == f"{key}: {bad.value.reason}"
    assert "\n" not in str(bad.value)


@pytest.mark.parametrize("key", [key for key in GOOD if key != "places"])
def test_a_missing_key_is_named(key: str) -> None:
    with pytest.raises(BadMap) as bad:
        RisklessMap.from_data({k: v for k, v in GOOD.items() if k != key})
    assert bad.value.key == key


def test_places_may_be_missing_and_other_keys_are_ignored() -> None:
    bare = {key: value for key, value in GOOD.items() if key != "places"}
    map = RisklessMap.from_data({**bare, "later": 1})
    assert len(set(map.places)) == 4
    assert {**map.to_data(), "places": GOOD["places"]} == GOOD


@given(riskless_maps())
def test_maps_go_to_data_and_back(map: RisklessMap) -> None:
    assert RisklessMap.from_data(json.loads(json.dumps(map.to_data()))) == map
    assert hash(RisklessMap.from_data(map.to_data())) == hash(map)


@given(st.data())
def test_a_corrupted_map_is_refused_or_valid(data: st.DataObject) -> None:
    sent = data.draw(spoiled(GOOD).filter(lambda value: isinstance(value, dict)))
    error = refusal(lambda: RisklessMap.from_data(sent))
    if error is None:
        map = RisklessMap.from_data(sent)
        assert is_simple(map.neighbours)
        assert is_undirected(map.neighbours)
        assert is_connected(map.neighbours)
        assert RisklessMap.from_data(map.to_data()) == map
    else:
        assert len(error) < 300


def test_territories_are_found_by_name_and_number() -> None:
    map = load_map("world")
    for number, name in enumerate(map.territories):
        for typed in (name, name.lower(), name.upper(), f" {name}  ", str(number)):
            assert map.find_territory(typed) == number
        assert map.get_territory_name(number) == name
    assert map.get_territory_name(42) == "42"
    assert map.get_territory_name(-1) == "-1"


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("Kamchatca", "choose from Kamchatka"),
        ("42", "choose from Alaska, Northwest Territory, Greenland, Alberta, …"),
        ("-1", "choose from Alaska"),
        ("", "choose from Alaska"),
    ],
)
def test_an_unknown_territory_gets_a_hint(typed: str, hint: str) -> None:
    with pytest.raises(BadData, match=f"no territory is called {typed!r}: {hint}"):
        load_map("world").find_territory(typed)
