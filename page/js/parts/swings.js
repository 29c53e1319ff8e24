// Where a match turned: plies at which a player thinks very differently of it than one move of its own before.

import { SEAT_NAMES, SEATS } from "../text.js";
import { scaleOf } from "./worth.js";

const SWING = 0.3; // of the way from lost to won, which is 2: 15 % of the chances

// [{ ply, seat, worse, words }] of a match, by the values that the players said. `ply` counts moves, as the slider does.
export function swings(match) {
  const last = /** @type {(number | null)[]} */ ([null, null]);
  const { at } = scaleOf(match);
  return match.moves.flatMap(({ thinking }, n) => {
    const said = thinking?.value;
    if (typeof said !== "number") return [];
    const before = last[n % 2];
    last[n % 2] = said;
    if (before === null) return [];
    const seat = SEATS[n % 2];
    const change = (at(said) - at(before)) * (seat === "maxie" ? 1 : -1);
    if (Math.abs(change) < SWING) return [];
    const how = change < 0 ? "worse" : "better";
    return [{ ply: n + 1, seat, worse: change < 0, words: `${SEAT_NAMES[seat]} thinks much ${how} of it than one move before` }];
  });
}
