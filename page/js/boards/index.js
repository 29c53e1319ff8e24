// The board that shows a game.

import { Declared } from "../games/declared.js";
import { DeclaredBoard } from "./declared.js";
import { GridBoard } from "./grid.js";
import { MapBoard } from "./map.js";

// onSpot(n) is called for each place that is clicked. `whole`: the whole map is visible, and nothing can be clicked. `seat`: the reader's seat.
export function makeBoard(game, onSpot, { whole = false, seat = /** @type {string | null} */ (null) } = {}) {
  if (game instanceof Declared) return new DeclaredBoard(game, onSpot);
  return game.names ? new MapBoard(game, onSpot, { whole, seat }) : new GridBoard(game, onSpot);
}
