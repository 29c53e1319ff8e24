"""The rules in JavaScript, against those in Python: the same moves, positions and ends over whole games."""

from __future__ import annotations

import json
import random
from typing import Any

from playwright.sync_api import Page

from arena.games.catalogue import make_game
from arena.games.core import AnyGame
from arena.maps.game_on_map import make_game_on_map
from testkit.browser import BrowserArena, evaluate_via_json

GAMES: dict[str, AnyGame] = {
    "tictactoe": make_game_on_map("tictactoe"),
    "hexapawn": make_game_on_map("hexapawn"),
    "hexapawn 4x5": make_game("hexapawn", {"width": 4, "height": 5}),
    **{
        f"riskless {name}": make_game_on_map("riskless", name)
        for name in ("m1", "m2", "path4", "usa", "world")
    },
}

STEP_THROUGH = """async ([name, setup, moves, digest]) => {
  const { rules } = await import(`/web/${digest}/js/games/index.js`);
  const game = rules(name, setup);
  let position = game.start();
  const seen = [];
  for (const move of [...moves, null]) {
    const { player, ply } = position;
    const board = position.armies ?? position.cells ?? position.squares;
    seen.push({ player, ply, board, moves: game.moves(position), outcome: game.outcome(position) });
    if (move !== null) position = game.play(position, move);
  }
  return seen;
}"""


def test_each_game_goes_the_same_way(empty: BrowserArena, page: Page) -> None:
    page.goto(f"{empty.url}file")
    digest = page.locator("script[type=module]").get_attribute("src").split("/")[2]  # type: ignore[union-attr]
    for name, game in GAMES.items():
        for seed in range(5):
            moves, expected = random_game(game, random.Random(seed))
            seen = evaluate_via_json(page, STEP_THROUGH, [game.name, game.setup(), moves, digest])
            assert seen == json.loads(json.dumps(expected)), name


def random_game(game: AnyGame, chance: random.Random) -> tuple[list[Any], list[dict[str, Any]]]:
    """The moves of a game, and what each of its positions must look like to the page."""
    position = game.start()
    played: list[Any] = []
    expected: list[dict[str, Any]] = []
    while True:
        outcome = game.outcome(position)
        data = game.position_to_data(position)
        moves = [game.move_to_data(move) for move in game.moves(position)]
        expected.append(
            {
                "player": game.player(position).value,
                "ply": game.ply(position),
                "board": data.get("armies") or data.get("cells") or data.get("squares"),
                "moves": moves,
                "outcome": outcome
                and {"winner": outcome.winner and outcome.winner.value, "reason": outcome.reason_code},
            }
        )
        if not moves:
            return played, expected
        played.append(chance.choice(moves))
        position = game.play(position, game.move_from_data(played[-1]))
