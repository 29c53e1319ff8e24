// The games that the page knows, by name.

import { Hexapawn } from "./hexapawn.js";
import { Riskless } from "./riskless.js";
import { TicTacToe } from "./tictactoe.js";

const GAMES = { riskless: Riskless, tictactoe: TicTacToe, hexapawn: Hexapawn };

// The rules of a match; null for a game that the page does not know.
export function rules(name, setup) {
  return Object.hasOwn(GAMES, name) ? new GAMES[name](setup) : null;
}
