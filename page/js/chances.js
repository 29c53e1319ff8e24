// The chance of winning at a ply of a match: one number for the bar, the sentence, the graph and the cards.

import { chance } from "./parts/values.js";
import { SEATS } from "./text.js";

const MAX_VALUE_AGE = 4; // plies in which a player's latest value is looked for: its last two moves, if the players take turns

// Return true if there is a chance of winning at a ply: in a game that is won by armies, or after a move that the engine has reviewed.
export function hasChances({ setup, game, judged, moves }, ply = moves.length) {
  return Boolean(setup.armies_to_win && game.score) || judged[ply - 1] !== undefined;
}

// Return Maxie's chance: by the result if the match is over at this ply, else as estimated; null if there is none.
export function chanceAt(match, ply) {
  const { end, moves } = match;
  if (end && ply === moves.length) return end.winner ? Number(end.winner === "maxie") : 0.5;
  return hasChances(match, ply) ? estimateAt(match, ply) : null;
}

// Return Maxie's chance before the result is known: by the engine's review, else the mean of the chances by each player's latest
// value, else by armies alone. It is never quite 0 or 1.
export function estimateAt(match, ply) {
  const { setup, game, judged, positions } = match;
  if (judged[ply - 1] !== undefined) return undecided(judged[ply - 1]);
  const said = SEATS.flatMap((seat) => latestValue(match, seat, ply) ?? []);
  if (said.length) return undecided(said.reduce((sum, value) => sum + chance(value, setup), 0) / said.length);
  const { maxie, minnie } = game.score(positions[ply]);
  return undecided(chance(100 * (maxie.armies - minnie.armies), setup));
}

// Return Maxie's chance in a position of the reader's own line: that at the ply of the match where the line begins, moved by the armies that it wins or loses; null if
// there is none.
export function chanceIn(match, ply, position) {
  const { setup, game, positions } = match;
  const share = chanceAt(match, ply);
  const end = game.outcome(position);
  if (end) return end.winner ? Number(end.winner === "maxie") : 0.5;
  if (share === null || !game.score) return share;
  const ahead = (/** @type {any} */ each) => game.score(each).maxie.armies - game.score(each).minnie.armies;
  const odds = (/** @type {number} */ each) => each / (1 - each);
  const both = odds(undecided(share)) * odds(undecided(chance(100 * (ahead(position) - ahead(positions[ply])), setup)));
  return undecided(both / (1 + both));
}

// Return both players' chances in whole per cent, which add up to 100.
export function percentages(share) {
  const maxie = Math.round(100 * share);
  return { maxie, minnie: 100 - maxie };
}

export const undecided = (/** @type {number} */ share) => Math.max(0.01, Math.min(0.99, share));

// Return the value that a player sent with its latest move that has one; null for none. The server sends it after the reply.
function latestValue(match, seat, ply) {
  for (let n = ply - 1; n >= Math.max(0, ply - MAX_VALUE_AGE); n--) {
    const value = match.moves[n].thinking?.value;
    if (typeof value === "number" && match.seatOf(n) === seat) return value;
  }
  return null;
}
