"""The example in the README is a valid map, and its table is the output of the command."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import fields

from arena.maps.loader import MAPS_FOLDER
from arena.maps.map_file import MapTable, TerritoryTable, read_map_file
from tests.bots.command_line import arena


def test_the_example_of_the_readme_is_a_map_with_every_key(tmp_path: Path) -> None:
    example = (MAPS_FOLDER / "README.md").read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    path = tmp_path / "strait.toml"
    path.write_text(example, encoding="utf-8")
    file = read_map_file(path)
    assert file.map.territories == ("West Island", "Strait", "East Island")
    assert file.continents == (("Islands", (0, 2)),)
    for key in (field.encode_name for table in (MapTable, TerritoryTable) for field in fields(table)):
        assert f"\n{key} = " in f"\n{example}" or f"[[{key}]]" in example, key


@pytest.mark.slow
def test_the_table_of_the_readme_equals_the_commands_output() -> None:
    done = arena("maps", "measure", "path4", "--matches", "400", "--processes", "1")
    assert done.code == 0, done.stderr
    shown = (MAPS_FOLDER / "README.md").read_text(encoding="utf-8")
    heading, _, *rows = (cells(line) for line in done.stdout.splitlines())
    known = [cells(line) for line in shown.splitlines() if line.startswith("|")]
    assert heading in known
    place = known.index(rows[0])
    assert known[place : place + len(rows)] == rows


def cells(line: str) -> list[str]:
    """Return the cells of a row of a Markdown table."""
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
