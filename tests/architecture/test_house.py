"""The reading of the house, on a small project of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.house import Building, read

CONTRACTS = """
[tool.importlinter]
root_packages = ["up", "low"]
[[tool.importlinter.contracts]]
name = "floors"
type = "layers"
layers = ["up", "low"]
[[tool.importlinter.contracts]]
name = "floors of up"
type = "layers"
containers = ["up"]
layers = ["a", "b | (c)"]
[[tool.importlinter.contracts]]
name = "no layers"
type = "forbidden"
source_modules = ["low"]
forbidden_modules = ["up"]
"""

FILES = {
    "up/__init__.py": '"""The upper one. It goes on."""\n',
    "up/a/__init__.py": '"""A."""\n',
    "up/a/one.py": "def f():\n    from up.b import thing\n    import low.deep\n",
    "up/b/__init__.py": '"""B\nin two lines."""\n',
    "up/b/thing.py": "import json\n",
    "up/c.py": '"""C."""\nfrom low import deep\n',
    "low/__init__.py": '"""The lower one."""\n',
    "low/deep.py": "x = 1\n",
}


@pytest.fixture
def house(tmp_path: Path) -> dict[str, Building]:
    (tmp_path / "pyproject.toml").write_text(CONTRACTS)
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return read(tmp_path)


def test_the_floors_are_those_of_the_contracts(house: dict[str, Building]) -> None:
    named = {
        container: [[folder.name for folder in floor] for floor in building.floors]
        for container, building in house.items()
    }
    assert named == {"": [["up"], ["low"]], "up": [["up.a"], ["up.b", "up.c"]]}


def test_an_arrow_is_an_import_wherever_it_stands(house: dict[str, Building]) -> None:
    assert house[""].arrows == {("up", "low")}
    assert house["up"].arrows == {("up.a", "up.b")}


def test_a_folder_is_told_by_its_first_sentence_and_its_lines(house: dict[str, Building]) -> None:
    (up,), (low,) = house[""].floors
    assert (up.summary, low.summary) == ("The upper one", "The lower one")
    assert up.lines == sum(len(text.splitlines()) for name, text in FILES.items() if name.startswith("up/"))
    assert [folder.summary for folder in house["up"].floors[1]] == ["B in two lines", "C"]


def test_a_contract_that_names_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(CONTRACTS)
    with pytest.raises(ValueError, match=r"pyproject\.toml: a contract names up, which does not exist"):
        read(tmp_path)
