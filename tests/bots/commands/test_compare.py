"""`arena analyse --compare`: its tables, its JSON and its plot."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.bots.command_line import arena

SVG = "{http://www.w3.org/2000/svg}"


def test_compare(tmp_path: Path) -> None:
    path, table = tmp_path / "plot.svg", tmp_path / "table.json"
    words = ("analyse", "--compare", "--game", "tictactoe", "--depth", "4", "--budget", "4000")
    result = arena(*words, "--svg", path, "--json", table)
    assert result.code == 0
    assert "Depth reached in equal leaves" in result.stdout
    data = json.loads(table.read_text(encoding="utf-8"))
    assert [row["minimax"] for row in data["leaves"]] == [9, 72, 504, 3024]
    assert [row["q^p"] for row in data["leaves"]] == [9, 72, 504, 3024]
    for row in data["leaves"]:
        assert row["alphabeta"] <= row["lazy"] <= row["minimax"]
        assert row["q^(p/2)"] <= row["q^(3p/4)"] <= row["q^p"]
    reach = data["depth_in_equal_leaves"]
    assert [row["minimax"] for row in reach] == [1, 2, 3, 4]
    assert reach[-1]["alphabeta"] > 4
    assert reach[-1]["ordered"] > 4
    names = {text.text for text in ET.parse(path).iter(f"{SVG}text")}
    assert {"minimax", "alphabeta", "scouts", "q^(p/2)"} <= names
