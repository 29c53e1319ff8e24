// The games that the page knows, by name.

import { Declared } from "./declared.js";
import { Hexapawn } from "./hexapawn.js";
import { Riskless } from "./riskless.js";
import { TicTacToe } from "./tictactoe.js";

export const GAMES = { riskless: Riskless, tictactoe: TicTacToe, hexapawn: Hexapawn };

// The rules of a match; those of a game that the page does not have are with the server.
export function rules(name, setup) {
  return Object.hasOwn(GAMES, name) ? new GAMES[name](setup) : new Declared(name, setup);
}
