"""The README's example is a map."""

from __future__ import annotations

from maps.loader import SHIPPED
from maps.mapfile import KEYS, TERRITORY_KEYS, parse


def test_the_example_of_the_readme_is_a_map_with_every_key() -> None:
    example = (SHIPPED / "README.md").read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    file = parse(example, "strait", "README.md")
    assert file.map.territories == ("West Island", "Strait", "East Island")
    assert file.continents == (("Islands", (0, 2)),)
    for key in (*KEYS, *TERRITORY_KEYS):
        assert f"\n{key} = " in f"\n{example}" or f"[[{key}]]" in example, key
