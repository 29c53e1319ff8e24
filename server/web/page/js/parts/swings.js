// Where a match turned: plies at which a player thinks very differently of it than one move of its own before.

import { SEAT_NAMES, SEATS } from "../text.js";
import { worth } from "./worth.js";

const SWING = 0.2; // a fifth of the whole way from lost to won

// [{ ply, seat, worse, words }] of a match, by the values that the players said. `ply` counts moves, as the slider does.
export function swings(match) {
  const last = [null, null];
  return match.moves.flatMap(({ thinking }, n) => {
    const said = thinking?.value;
    if (typeof said !== "number") return [];
    const before = last[n % 2];
    last[n % 2] = said;
    if (before === null) return [];
    const seat = SEATS[n % 2];
    const change = (worth(said) - worth(before)) * (seat === "maxie" ? 1 : -1);
    if (Math.abs(change) < SWING) return [];
    const how = change < 0 ? "worse" : "better";
    return [{ ply: n + 1, seat, worse: change < 0, words: `${SEAT_NAMES[seat]} thinks much ${how} of it than one move before` }];
  });
}
