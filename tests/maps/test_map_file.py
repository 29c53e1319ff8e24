"""Every kind of broken map file gets a message of its own: file, key, reason, and what would be right."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.maps.map_file import MapError, MapFile, parse_map_file

GOOD = """\
description = "Two islands and a strait"
territory_cap = 10
armies_to_win = 15
ply_limit = 400

[[territory]]
name = "West Island"
place = [0, 0]
roads = ["Strait"]
continent = "Islands"
start = ["maxie", 2]

[[territory]]
name = "Strait"
place = [10, 4.5]
roads = ["west island", 2]

[[territory]]
name = "East Island"
place = [20, 0]
roads = ["Strait"]
continent = "Islands"
start = ["minnie", 3]
"""

BROKEN = [
    # what is written instead of what, the key told, and why
    ("description =", "describtion =", "describtion", "no such key; did you mean description?"),
    ("description =", "colour =", "colour", "no such key; the keys here are description, territory_cap"),
    ('"Two islands and a strait"', "2", "description", "must be one line of text in quotes"),
    ('"Two islands and a strait"', '"""a\nb"""', "description", "must be one line of text in quotes"),
    ("territory_cap = 10\n", "", "territory_cap", "this key is missing"),
    ("armies_to_win = 15\n", "", "armies_to_win", "this key is missing"),
    ("ply_limit = 400\n", "", "ply_limit", "this key is missing"),
    ("territory_cap = 10", 'territory_cap = "10"', "territory_cap", "must be a whole number, not '10'"),
    ("territory_cap = 10", "territory_cap = true", "territory_cap", "must be a whole number, not True"),
    ("territory_cap = 10", "territory_cap = 0", "territory_cap", "whole number from 1 to 1000, not 0"),
    ("armies_to_win = 15", "armies_to_win = 1.5", "armies_to_win", "must be a whole number, not 1.5"),
    ("armies_to_win = 15", "armies_to_win = 31", "armies_to_win", "2 to 30, not 31 (the cap 10 times 3"),
    ("armies_to_win = 15", "armies_to_win = 3", "start", "minnie starts with 3 armies, which already win"),
    ("ply_limit = 400", "ply_limit = 1_000_000", "ply_limit", "from 1 to 100000, not 1000000"),
    ("ply_limit = 400", "ply_limit = 400\nwraps = 1", "wraps", "must be true or false, not 1"),
    (GOOD[GOOD.index("[[") :], "", "territory", "add territories, each under a line [[territory]]"),
    (
        GOOD[GOOD.index("[[") :],
        "territory = 3",
        "territory",
        "write each territory as a table, under a line [[territory]]",
    ),
    (
        GOOD[GOOD.index("[[") :],
        "territory = [1, 2]",
        "territory",
        "write each territory as a table, under a line [[territory]]",
    ),
    (GOOD[GOOD.index('[[territory]]\nname = "S') :], "", "territory 0 (West Island), roads", "'Strait'"),
    ('name = "Strait"\n', "", "territory 1, name", "this key is missing"),
    ('name = "Strait"', "name = 7", "territory 1, name", "must be one line of text in quotes"),
    ('name = "Strait"', 'name = ""', "territory 1, name", "must be one line of text in quotes"),
    ('name = "Strait"', 'name = "a\\nb"', "territory 1 (a\nb), name", "must be one line of text in quotes"),
    ('name = "East Island"', 'name = "STRAIT"', "territory", "'STRAIT' is given twice (case is ignored)"),
    (
        'name = "East Island"',
        'name = "7"',
        "territory",
        "'7' reads like the number of a territory, but its own number is 2",
    ),
    ('name = "Strait"', 'name = "Strait"\n"a\\nb" = 1', "territory 1 (Strait), a\nb", "no such key"),
    ('name = "Strait"', 'nam = "Strait"', "territory 1, nam", "no such key; did you mean name?"),
    ('name = "Strait"', 'name = "EAST ISLAND"', "territory 0 (West Island), roads", "'Strait'"),
    ("place = [10, 4.5]\n", "", "territory 1 (Strait), place", "this key is missing"),
    ("place = [10, 4.5]", "place = [10]", "territory 1 (Strait), place", "must be [x, y], two numbers"),
    ("place = [10, 4.5]", 'place = "10, 4"', "territory 1 (Strait), place", "must be [x, y], two numbers"),
    ("place = [10, 4.5]", "place = [10, nan]", "territory 1 (Strait), place", "must be [x, y], two numbers"),
    ("place = [10, 4.5]", "place = [10, inf]", "territory 1 (Strait), place", "must be [x, y], two numbers"),
    ("place = [10, 4.5]", "place = [10, 1e7]", "territory 1 (Strait), place", "up to a million"),
    ("place = [10, 4.5]", "place = [true, 1]", "territory 1 (Strait), place", "must be [x, y], two numbers"),
    ("place = [10, 4.5]", "place = [0, 0]", "place", "West Island and Strait are at the same place"),
    ('roads = ["west island", 2]\n', "", "territory 1 (Strait), roads", "this key is missing"),
    ('["west island", 2]', '"West Island"', "territory 1 (Strait), roads", "must be a list of territories"),
    ('["west island", 2]', '["Wst Island"]', "territory 1 (Strait), roads", "did you mean 'West Island'?"),
    ('["west island", 2]', '["Zzz"]', "territory 1 (Strait), roads", "no territory is called 'Zzz'"),
    ('["west island", 2]', "[0, 3]", "territory 1 (Strait), roads", "no territory 3: they are 0 to 2"),
    ('["west island", 2]', "[0, -1]", "territory 1 (Strait), roads", "no territory -1: they are 0 to 2"),
    ('["west island", 2]', "[0, 2.0]", "territory 1 (Strait), roads", "by name or number, not 2.0"),
    ('["west island", 2]', "[0, true]", "territory 1 (Strait), roads", "by name or number, not True"),
    (
        '["west island", 2]',
        "[0]",
        "roads",
        "the road from East Island to Strait must be given in both directions",
    ),
    ('["west island", 2]', "[0, 1, 2]", "roads", "Strait has a road to itself"),
    ('["west island", 2]', "[0, 2, 0]", "roads", "the road from Strait to West Island is given twice"),
    (
        'roads = ["Strait"]\ncontinent = "Islands"\nstart = ["minnie',
        'roads = []\nstart = ["minnie',
        "roads",
        "both directions",
    ),
    ('continent = "Islands"', "continent = 1", "territory 0 (West Island), continent", "one line of text"),
    ('["maxie", 2]', '"maxie"', "territory 0 (West Island), start", "as in [\"maxie\", 2], not 'maxie'"),
    ('["maxie", 2]', '["maxi", 2]', "territory 0 (West Island), start", 'as in ["maxie", 2]'),
    ('["maxie", 2]', '["maxie"]', "territory 0 (West Island), start", 'as in ["maxie", 2]'),
    (
        '["maxie", 2]',
        '["maxie", 0]',
        "territory 0 (West Island), start",
        "at least 1 army (leave the key out",
    ),
    ('["maxie", 2]', '["maxie", "2"]', "territory 0 (West Island), start", "must be a whole number, not '2'"),
    ('["maxie", 2]', '["maxie", 11]', "start", "West Island has 11 armies, more than the cap of 10"),
    ('start = ["maxie", 2]\n', "", "start", "maxie needs at least one territory"),
    ('start = ["minnie", 3]\n', "", "start", "minnie needs at least one territory"),
    ('"Strait"\nplace', '"St > rait"\nplace', "territory 0 (West Island), roads", "no territory is called"),
]

NOT_TOML = [
    ("territory_cap 10", "expected '=' after a key in a key/value pair (at line 1, column 15)"),
    ("territory_cap = 10\nterritory_cap = 11\n", "cannot overwrite a value (at line 2, column 19)"),
    ('name = "Strait\nplace = [1, 2]', "illegal character '\\n' (at line 1, column 15)"),
    ("name = \x01", "(at line 1, column 8)"),
    ("a = " + "[" * 100_000, "nested too deeply"),
    ("a = " + "9" * 5_000, "exceeds the limit"),
]


def test_the_good_file_is_good() -> None:
    file = parse_map_file(GOOD, "strait", "strait.toml")
    assert file == MapFile(file.map, "Two islands and a strait", (("Islands", (0, 2)),), wraps=False)
    assert file.map.name == "strait"
    assert file.map.territories == ("West Island", "Strait", "East Island")
    assert file.map.neighbours == ((1,), (0, 2), (1,))
    assert file.map.start == (2, 0, -3)
    assert file.map.places == ((0.0, 0.0), (10.0, 4.5), (20.0, 0.0))
    assert (file.map.territory_cap, file.map.armies_to_win, file.map.ply_limit) == (10, 15, 400)


@pytest.mark.parametrize(("old", "new", "key", "why"), BROKEN)
def test_a_broken_file_says_file_key_and_reason(old: str, new: str, key: str, why: str) -> None:
    assert old in GOOD
    with pytest.raises(MapError, match=re.escape(why)) as error:
        parse_map_file(GOOD.replace(old, new, 1), "broken", "maps/broken.toml")
    told = error.value
    assert (told.file, told.key) == ("maps/broken.toml", key)
    assert str(told) == f"maps/broken.toml: {key}: {told.why}".replace("\n", "\\n")
    assert "\n" not in str(told)
    assert len(str(told)) < 300


@pytest.mark.parametrize(("text", "why"), NOT_TOML, ids=range(len(NOT_TOML)))
def test_invalid_toml_is_reported_with_its_line(text: str, why: str) -> None:
    with pytest.raises(MapError, match=re.escape(why)) as error:
        parse_map_file(text, "broken", "maps/broken.toml")
    assert str(error.value).startswith(
        ("maps/broken.toml: not valid TOML", "maps/broken.toml: cannot be parsed as TOML")
    )
    assert "\n" not in str(error.value)


@given(st.data())
def test_a_file_with_a_piece_cut_out_is_refused_or_whole(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(GOOD)))
    end = data.draw(st.integers(start, min(len(GOOD), start + 40)))
    text = GOOD[:start] + data.draw(st.text(max_size=3)) + GOOD[end:]
    try:
        file = parse_map_file(text, "cut", "cut.toml")
    except MapError as error:
        told = str(error)
    else:
        told = ""
        assert file.map.size >= 2
    assert told == "" or told.startswith("cut.toml: ")
    assert "\n" not in told
