"""bots.search.reports.tree_picture: a picture of the whole tree, or none."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from arena.bots.search.alphabeta import alphabeta
from arena.bots.search.monitor import SearchMonitor
from arena.bots.search.reports.traced_tree import TracedNode, count_nodes, traced_tree
from arena.bots.search.reports.tree_picture import MAX_NODES, TreeTooLarge, tree_svg
from arena.games.core import Player
from arena.games.explicit import Explicit
from tests.bots.search.problems import Case, tree


@pytest.mark.parametrize("name", ["HandoutBig", "HandoutSmall", "Holden"])
def test_the_picture_has_a_mark_for_every_node_of_the_tree(name: str) -> None:
    game: Explicit = tree(name)
    monitor = SearchMonitor(tracing=True)
    result = alphabeta(Case(game, game.start(), game.height).problem, game.start(), game.height, monitor)
    seen = traced_tree(game, game.start(), game.height, monitor.events or ())
    assert count_nodes(seen) == len(game.nodes)
    picture = ET.fromstring(tree_svg(seen, f"{name} <value {result.value}>"))
    shown = {"".join(text.itertext()) for text in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert f"{name} <value {result.value}>" in shown
    assert str(result.value) in shown


def test_a_tree_that_no_picture_holds_is_refused() -> None:
    wide = TracedNode((), "root", "", Player.MAXIE)
    wide.children = [TracedNode((place,), "leaf", "m", Player.MINNIE) for place in range(MAX_NODES)]
    with pytest.raises(TreeTooLarge, match=f"not {MAX_NODES + 1}"):
        tree_svg(wide, "too wide")
