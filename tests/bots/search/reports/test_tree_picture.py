from __future__ import annotations

from xml.etree import ElementTree as ET

from arena.bots.evaluators.catalogue import evaluator_for
from arena.bots.search.minimax import minimax
from arena.bots.search.monitor import SearchMonitor
from arena.bots.search.problem import Problem
from arena.bots.search.reports.tree_picture import MAX_DRAWN_NODES, render_traced_search
from arena.games.tictactoe import TicTacToe


def test_a_large_tree_is_drawn_to_the_depth_in_its_title() -> None:
    game = TicTacToe()
    monitor = SearchMonitor(tracing=True)
    minimax(Problem(game, evaluator_for(game, "plain")), game.start(), 4, monitor)
    picture = ET.fromstring(
        render_traced_search(game, game.start(), 4, monitor.events or (), "a large tree", ())
    )
    svg = "{http://www.w3.org/2000/svg}"
    texts = ["".join(text.itertext()) for text in picture.iter(f"{svg}text")]
    assert texts[0] == f"a large tree (drawn to depth 3: at most {MAX_DRAWN_NODES} nodes fit)"
    assert len(list(picture.iter(f"{svg}title"))) == 1 + 9 + 9 * 8 + 9 * 8 * 7
