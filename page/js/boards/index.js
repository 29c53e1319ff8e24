// The board that shows a game.

import { Declared } from "../games/declared.js";
import { DeclaredBoard } from "./declared.js";
import { GridBoard } from "./grid.js";
import { MapBoard } from "./map.js";

// onSpot(n) is told of each place that is clicked. `whole`: all of a map is in sight, to be looked at and not to be pressed.
export function makeBoard(game, onSpot, { whole = false } = {}) {
  if (game instanceof Declared) return new DeclaredBoard(game, onSpot);
  return game.names ? new MapBoard(game, onSpot, { whole }) : new GridBoard(game, onSpot);
}
