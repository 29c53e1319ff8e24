// Turning points of a match: plies at which a player's value differs much from its value one move before.

import { SIDES } from "../text.js";
import { scaleOf } from "./values.js";

const SWING = 0.3; // of the range from lost to won, which is 2: 15 % of the chances

// Return [{ ply, seat, worse, words }] of a match, from the players' values. `ply` counts moves, as the slider does.
export function swings(match) {
  const last = /** @type {Record<string, number>} */ ({});
  const { at } = scaleOf(match);
  return match.moves.flatMap(({ thinking }, n) => {
    const said = thinking?.value;
    if (typeof said !== "number") return [];
    const seat = match.seatOf(n);
    const before = last[seat];
    last[seat] = said;
    if (before === undefined) return [];
    const change = (at(said) - at(before)) * (seat === "maxie" ? 1 : -1);
    if (Math.abs(change) < SWING) return [];
    const how = change < 0 ? "worsened" : "improved";
    return [{ ply: n + 1, seat, worse: change < 0, words: `${SIDES[seat]}’s outlook ${how} sharply` }];
  });
}
