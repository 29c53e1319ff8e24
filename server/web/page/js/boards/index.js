// The board that shows a game.

import { Declared } from "../games/declared.js";
import { DeclaredBoard } from "./declared.js";
import { GridBoard } from "./grid.js";
import { MapBoard } from "./map.js";

export function makeBoard(game, onSpot) {
  if (game instanceof Declared) return new DeclaredBoard(game, onSpot);
  return game.names ? new MapBoard(game, onSpot) : new GridBoard(game, onSpot);
}
