"""The README's example is a map, and its table is what the command writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.maps.loader import SHIPPED
from arena.maps.mapfile import KEYS, TERRITORY_KEYS, parse
from tests.bots.command_line import arena


def test_the_example_of_the_readme_is_a_map_with_every_key() -> None:
    example = (SHIPPED / "README.md").read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    file = parse(example, "strait", "README.md")
    assert file.map.territories == ("West Island", "Strait", "East Island")
    assert file.continents == (("Islands", (0, 2)),)
    for key in (*KEYS, *TERRITORY_KEYS):
        assert f"\n{key} = " in f"\n{example}" or f"[[{key}]]" in example, key


@pytest.mark.soak
@pytest.mark.timeout(300)
def test_the_table_of_the_readme_is_what_the_command_writes(tmp_path: Path) -> None:
    shown = (SHIPPED / "README.md").read_text(encoding="utf-8")
    page = tmp_path / "README.md"
    page.write_text(
        shown.replace("| path4 | 10 | 20 | 200 | 500 |", "| path4 | 0 | 0 | 0 | 0 |"), encoding="utf-8"
    )
    done = arena("maps", "measure", "path4", "--matches", "400", "--processes", "1", "--markdown", str(page))
    assert done.code == 0, done.stderr
    assert page.read_text(encoding="utf-8") == shown
