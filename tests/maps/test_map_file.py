"""Each kind of invalid map file has its own message: file, key, reason, and what would be right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.maps.map_file import AnnotatedMap, MapError, read_map_file

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
short = "East"
"""

BROKEN = [
    # the text to replace, its replacement, and the message after the name of the file
    ("description =", "describtion =", ':1: describtion: unknown key; did you mean "description"?'),
    (
        "description =",
        "colour =",
        ":1: colour: unknown key; choose from description, territory_cap, armies_to_win, ply_limit, wraps, territory",
    ),
    ('"Two islands and a strait"', "2", ":1: description: expected a string, got a whole number"),
    (
        '"Two islands and a strait"',
        '"""a\nb"""',
        ":1: description: must be one line of printable characters, not 'a\\nb'",
    ),
    ("territory_cap = 10\n", "", ": the key territory_cap is missing"),
    ("armies_to_win = 15\n", "", ": the key armies_to_win is missing"),
    ("ply_limit = 400\n", "", ": the key ply_limit is missing"),
    (
        "territory_cap = 10",
        'territory_cap = "10"',
        ":2: territory_cap: expected a whole number, got a string",
    ),
    (
        "territory_cap = 10",
        "territory_cap = true",
        ":2: territory_cap: expected a whole number, got true or false",
    ),
    (
        "territory_cap = 10",
        "territory_cap = 0",
        ":2: territory_cap: it must be a whole number from 1 to 1000, not 0",
    ),
    ("armies_to_win = 15", "armies_to_win = 1.5", ":3: armies_to_win: expected a whole number, got a number"),
    (
        "armies_to_win = 15",
        "armies_to_win = 31",
        ":3: armies_to_win: it must be a whole number from 2 to 30, not 31 (the cap 10 times 3 territories)",
    ),
    (
        "armies_to_win = 15",
        "armies_to_win = 3",
        ": start: minnie starts with 3 armies, which already win: armies_to_win must be larger",
    ),
    (
        "ply_limit = 400",
        "ply_limit = 1_000_000",
        ":4: ply_limit: it must be a whole number from 1 to 100000, not 1000000",
    ),
    (
        "ply_limit = 400",
        "ply_limit = 400\nwraps = 1",
        ":5: wraps: expected true or false, got a whole number",
    ),
    (GOOD[GOOD.index("[[") :], "", ": the key territory is missing"),
    (GOOD[GOOD.index("[[") :], "territory = 3", ":6: territory: expected a list, got a whole number"),
    (GOOD[GOOD.index("[[") :], "territory = [1, 2]", ":6: territory: expected a table, got a whole number"),
    (GOOD[GOOD.index("[[") :], "territory = []", ":6: territory: there must be 2 to 1000 territories, not 0"),
    (GOOD[GOOD.index("[[") :], "[territory.alaska]", ":6: territory: expected a list, got a table"),
    (
        GOOD[GOOD.index('[[territory]]\nname = "S') :],
        "",
        ":9: territory.roads: no territory is called 'Strait'",
    ),
    ('name = "Strait"\n', "", ":13: territory: the key name is missing"),
    ('name = "Strait"', "name = 7", ":14: territory.name: expected a string, got a whole number"),
    ('name = "Strait"', 'name = ""', ":14: territory.name: expected a string that is not blank"),
    ('name = "Strait"', 'name = "a\\nb"', ":9: territory.roads: no territory is called 'Strait'"),
    (
        'name = "East Island"',
        'name = "STRAIT"',
        ":19: territory.name: 'STRAIT' is given twice (case is ignored)",
    ),
    (
        'name = "East Island"',
        'name = "7"',
        ":19: territory.name: '7' reads like the number of a territory, but its own number is 2",
    ),
    (
        'name = "Strait"',
        'name = "Strait"\n"a\\nb" = 1',
        ":15: territory.a\\nb: unknown key; choose from name, short, place, roads, continent, start",
    ),
    (
        'name = "Strait"',
        f'name = "Strait"\n{"k" * 1000} = 1',
        f":15: territory.{'k' * 40}: unknown key; choose from name, short, place, roads, continent, start",
    ),
    ('name = "Strait"', 'nam = "Strait"', ':14: territory.nam: unknown key; did you mean "name"?'),
    (
        'name = "Strait"',
        'name = "Strait"\nshort = "Narrow"',
        ":15: territory.short: must be shorter than the name 'Strait'",
    ),
    (
        'name = "Strait"',
        'name = "Strait"\nshort = "East"',
        ":25: territory.short: 'East' is already the short form of 'Strait'; choose another",
    ),
    ('name = "Strait"', 'name = "EAST ISLAND"', ":9: territory.roads: no territory is called 'Strait'"),
    ("place = [10, 4.5]\n", "", ":13: territory: the key place is missing"),
    ("place = [10, 4.5]", "place = [10]", ":15: territory.place: expected a list of length 2, got 1"),
    ("place = [10, 4.5]", 'place = "10, 4"', ":15: territory.place: expected a list, got a string"),
    ("place = [10, 4.5]", "place = [10, nan]", ":15: territory.place: expected a number >= -1000000.0"),
    ("place = [10, 4.5]", "place = [10, inf]", ":15: territory.place: expected a number <= 1000000.0"),
    ("place = [10, 4.5]", "place = [10, 1e7]", ":15: territory.place: expected a number <= 1000000.0"),
    ("place = [10, 4.5]", "place = [true, 1]", ":15: territory.place: expected a number, got true or false"),
    (
        "place = [10, 4.5]",
        "place = [0, 0]",
        ":15: territory.place: West Island and Strait are at the same place: move one of them",
    ),
    ('roads = ["west island", 2]\n', "", ":13: territory: the key roads is missing"),
    ('["west island", 2]', '"West Island"', ":16: territory.roads: expected a list, got a string"),
    (
        '["west island", 2]',
        '["Wst Island"]',
        ":16: territory.roads: no territory is called 'Wst Island'; did you mean \"West Island\"?",
    ),
    ('["west island", 2]', '["Zzz"]', ":16: territory.roads: no territory is called 'Zzz'"),
    (
        '["west island", 2]',
        "[0, 3]",
        ":16: territory.roads: Strait has a road to 3, but there is no such territory",
    ),
    (
        '["west island", 2]',
        "[0, -1]",
        ":16: territory.roads: Strait has a road to -1, but there is no such territory",
    ),
    (
        '["west island", 2]',
        "[0, 2.0]",
        ":16: territory.roads: expected a whole number or a string, got a number",
    ),
    (
        '["west island", 2]',
        "[0, true]",
        ":16: territory.roads: expected a whole number or a string, got true or false",
    ),
    (
        '["west island", 2]',
        "[0]",
        ":21: territory.roads: the road from East Island to Strait has no road back: give it in both directions",
    ),
    (
        '["west island", 2]',
        "[0, 1, 2]",
        ":16: territory.roads: Strait has a road to itself: remove this road",
    ),
    (
        '["west island", 2]',
        "[0, 2, 0]",
        ":16: territory.roads: the road from Strait to West Island is given twice: give it once",
    ),
    (
        'roads = ["Strait"]\ncontinent = "Islands"\nstart = ["minnie',
        'roads = []\nstart = ["minnie',
        ":16: territory.roads: the road from Strait to East Island has no road back: give it in both directions",
    ),
    (
        'continent = "Islands"',
        "continent = 1",
        ":10: territory.continent: expected a string, got a whole number",
    ),
    ('["maxie", 2]', '"maxie"', ":11: territory.start: expected a list, got a string"),
    (
        '["maxie", 2]',
        '["maxi", 2]',
        ":11: territory.start: must be a player and armies, as in [\"maxie\", 2]; no player is called 'maxi'",
    ),
    ('["maxie", 2]', '["maxie"]', ":11: territory.start: expected a list of length 2, got 1"),
    ('["maxie", 2]', '["maxie", 0]', ":11: territory.start: expected a whole number >= 1"),
    ('["maxie", 2]', '["maxie", "2"]', ":11: territory.start: expected a whole number, got a string"),
    (
        '["maxie", 2]',
        '["maxie", 11]',
        ":11: territory.start: West Island has 11 armies, more than the cap of 10",
    ),
    ('start = ["maxie", 2]\n', "", ": start: maxie needs at least one territory with armies"),
    ('start = ["minnie", 3]\n', "", ": start: minnie needs at least one territory with armies"),
    (
        '"Strait"\nplace',
        '"St > rait"\nplace',
        ":9: territory.roads: no territory is called 'Strait'; did you mean \"St > rait\"?",
    ),
]

NOT_TOML = [
    ("territory_cap 10", "Expected '=' after a key in a key/value pair (at line 1, column 15)"),
    ("territory_cap = 10\nterritory_cap = 11\n", "Cannot overwrite a value (at line 2, column 19)"),
    ('name = "Strait\nplace = [1, 2]', "Illegal character '\\n' (at line 1, column 15)"),
    ("name = \x01", "(at line 1, column 8)"),
    ("a = " + "[" * 100_000, "nested too deeply"),
    ("a = " + "9" * 5_000, "Exceeds the limit"),
]


def write_map(folder: Path, text: str, name: str = "broken.toml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_the_good_file_is_good(tmp_path: Path) -> None:
    file = read_map_file(write_map(tmp_path, GOOD, "strait.toml"))
    assert file == AnnotatedMap(
        file.map, "Two islands and a strait", (("Islands", (0, 2)),), ("", "", "East")
    )
    assert file.map.name == "strait"
    assert file.map.territories == ("West Island", "Strait", "East Island")
    assert file.map.neighbours == ((1,), (0, 2), (1,))
    assert file.map.start == (2, 0, -3)
    assert file.map.places == ((0.0, 0.0), (10.0, 4.5), (20.0, 0.0))
    assert (file.map.territory_cap, file.map.armies_to_win, file.map.ply_limit) == (10, 15, 400)


@pytest.mark.parametrize(("old", "new", "message"), BROKEN)
def test_an_error_names_the_file_the_line_the_key_and_the_reason(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in GOOD
    file = write_map(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(MapError) as error:
        read_map_file(file)
    assert str(error.value) == f"{file}{message}"


def test_a_name_of_several_lines_is_refused_in_one_line(tmp_path: Path) -> None:
    file = write_map(tmp_path, GOOD.replace('"Strait"', '"a\\nb"').replace('["a\\nb"]', "[1]"))
    with pytest.raises(MapError) as error:
        read_map_file(file)
    assert str(error.value) == (
        f"{file}:14: territory.name: 'a\\nb' is not a valid name: write 1 to 40 printable characters"
    )


@pytest.mark.parametrize(("text", "why"), NOT_TOML, ids=range(len(NOT_TOML)))
def test_invalid_toml_is_reported_with_its_line(tmp_path: Path, text: str, why: str) -> None:
    file = write_map(tmp_path, text)
    with pytest.raises(MapError, match=re.escape(why)) as error:
        read_map_file(file)
    assert str(error.value).startswith(f"{file}: not valid TOML: ")
    assert "\n" not in str(error.value)


@given(st.data())
def test_a_file_with_a_part_cut_out_is_refused_or_valid(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(GOOD)))
    end = data.draw(st.integers(start, min(len(GOOD), start + 40)))
    text = GOOD[:start] + data.draw(st.text(max_size=3)) + GOOD[end:]
    path = write_map(tmp_path_factory.getbasetemp(), text, "cut.toml")
    try:
        file = read_map_file(path)
    except MapError as error:
        told = str(error)
    else:
        told = ""
        assert file.map.territory_count >= 2
    assert told == "" or told.startswith(str(path))
    assert "\n" not in told
