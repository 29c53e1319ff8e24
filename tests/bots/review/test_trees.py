"""bots.review.trees: trees by name and from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.bots.review.trees import TreeLoadError, list_tree_names, load_tree
from arena.games.core import Player


def test_the_trees_of_the_sources() -> None:
    assert list_tree_names() == ["Cuts", "HandoutBig", "HandoutSmall", "Holden", "Hughes", "Intro"]
    assert {name: (len(load_tree(name).nodes), load_tree(name).height) for name in list_tree_names()} == {
        "Cuts": (33, 4),
        "HandoutBig": (25, 4),
        "HandoutSmall": (13, 2),
        "Holden": (21, 2),
        "Hughes": (7, 2),
        "Intro": (7, 2),
    }
    assert load_tree("handoutbig").nodes == load_tree("HandoutBig").nodes


def test_any_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"children": [{"value": 1}, {"value": 2}]}', encoding="utf-8")
    assert len(load_tree(str(path)).nodes) == 3
    path.write_text('{"tree": {"value": 1}, "player": "minnie"}', encoding="utf-8")
    assert load_tree(str(path)).first_player is Player.MINNIE


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "not valid JSON"),
        ("3", "must be an object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"tree": {"value": 1}, "player": 3}', "player must be maxie or minnie"),
        ('{"children": [{"name": "b"}]}', "node b: a leaf needs a value"),
    ],
)
def test_bad_files_say_which_file(tmp_path: Path, content: str, why: str) -> None:
    path = tmp_path / "mine.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(TreeLoadError, match=rf"mine\.json: .*{why}"):
        load_tree(str(path))


def test_unknown_names() -> None:
    with pytest.raises(TreeLoadError, match="no tree is called 'x': choose from Cuts, HandoutBig"):
        load_tree("x")
    with pytest.raises(TreeLoadError, match="cannot read nowhere.json: No such file"):  # noqa: RUF043
        load_tree("nowhere.json")
