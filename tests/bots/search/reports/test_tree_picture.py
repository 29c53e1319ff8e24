"""bots.search.reports.tree_picture: a picture of the whole tree, or none."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from arena.bots.search.alphabeta import alphabeta
from arena.bots.search.reports.seen_tree import Seen, count_nodes, seen_tree
from arena.bots.search.reports.tree_picture import MOST_NODES, TooBig, tree_svg
from arena.bots.search.watch import Watch
from arena.games.core import Player
from arena.games.explicit import Explicit
from tests.bots.search.problems import Case, tree


@pytest.mark.parametrize("name", ["HandoutBig", "HandoutSmall", "Holden"])
def test_the_picture_has_a_mark_for_every_node_of_the_tree(name: str) -> None:
    game: Explicit = tree(name)
    watch = Watch(tracing=True)
    result = alphabeta(Case(game, game.start(), game.height).problem, game.start(), game.height, watch)
    seen = seen_tree(game, game.start(), game.height, watch.events or ())
    assert count_nodes(seen) == len(game.nodes)
    picture = ET.fromstring(tree_svg(seen, f"{name} <value {result.value}>"))
    shown = {"".join(text.itertext()) for text in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert f"{name} <value {result.value}>" in shown
    assert str(result.value) in shown


def test_a_tree_that_no_picture_holds_is_refused() -> None:
    wide = Seen((), "root", "", Player.MAXIE)
    wide.children = [Seen((place,), "leaf", "m", Player.MINNIE) for place in range(MOST_NODES)]
    with pytest.raises(TooBig, match=f"{MOST_NODES + 1} nodes"):
        tree_svg(wide, "too wide")
