// The board that shows a game.

import { GridBoard } from "./grid.js";
import { MapBoard } from "./map.js";

export function makeBoard(game, onSpot) {
  return game.names ? new MapBoard(game, onSpot) : new GridBoard(game, onSpot);
}
