"""arena.toml_file: the lines of its errors."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from arena.toml_file import KeyPath, TomlFile

TEXT = r'''
several = """
[no table]
\"""
"""""
list = [ # ]
  "]", '[', "\"]",
  { name = "a" }, # {
]
"quoted#key" = 1 # "
[table]
empty = """"""
path = 'C:\'
[[tables]]
last = """a"""'''


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (["several"], 2),
        (["list"], 6),
        (["list", 3, "name"], 6),
        (["quoted#key"], 10),
        (["table"], 11),
        (["table", "empty"], 12),
        (["table", "path"], 13),
        (["tables", 0], 14),
        (["tables", 0, "last"], 15),
        (["none"], 0),
        ([], 0),
    ],
)
def test_the_line_of_a_value_is_the_first_of_its_statement(keys: KeyPath, line: int) -> None:
    assert TomlFile.parse_bytes(Path("a.toml"), TEXT.encode()).find_line_number(keys) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param('[[bots]]\nengine = """\n[x]\n"""\n' * 200 + "[last]\n", 801, id="tables"),
        pytest.param("bots = [\n" + '{ engine = "a" },\n' * 800 + "]\nlast = 1\n", 803, id="a list"),
        pytest.param('text = """\n' + "[x]\n" * 3_000 + '"""\nlast = 1\n', 3_003, id="a text"),
    ],
)
def test_a_line_is_found_without_parsing_all_beginnings(
    text: str, line: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed_lengths: list[int] = []
    parse = tomllib.loads

    def count_and_parse(text: str) -> dict[str, Any]:
        parsed_lengths.append(len(text))
        return parse(text)

    monkeypatch.setattr(tomllib, "loads", count_and_parse)
    file = TomlFile.parse_bytes(Path("a.toml"), text.encode())
    assert file.find_line_number(["last"]) == line
    assert sum(parsed_lengths) < 20 * len(text)
