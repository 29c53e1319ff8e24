// The events of a match, each in a sentence: large battles, continents that are won and lost, who becomes the favourite.

import { estimateAt, percentages } from "./chances.js";
import { moveIn } from "./games/riskless.js";
import { SEATS, other, outcome, plural } from "./text.js";

const KEY_MOMENTS = 5;
const LARGE_BATTLE_SHARE = 0.2; // of all armies of a player, in one battle
const MIN_ARMIES = 5; // armies in a battle that is told
const FAVOURITE_PERCENT = 60; // the chance from which on a player is the favourite, rounded as the bar shows it
const WINNING_PERCENT = 90; // the same from which on a favourite is winning
const LOST = 0.15; // the chance below which a player hardly wins any more
const NEAR_GOAL_SHARE = 0.8; // of the armies that win
const OPENING_PLIES = 8; // plies that are introduced by what wins the match
const TOLD_PLIES = 10; // plies for which an event stays in the text for a screen reader
const RECENT_PLIES = 40; // the last plies whose events make a match tense
const TURN = 0.15; // change of the chance of winning that a reader sees in the graph
const LASTING_PLIES = 6; // plies for which the chance stays changed after a turning point
export const SETTLED = 12; // plies after which a match that is not close counts as decided

const NO_CONTINENTS = /** @type {any[]} */ ([]);
const found = new WeakMap(); // of each match: the events so far, for these continents and this review

// Return the events [{ ply, seat, weight, words }] of the first `plies` of a match of Riskless. `ply` counts moves, as the slider does, and `seat`
// is the player whom the sentence is about. `continents` are [name, territories] as a map has them.
export function story(match, continents, plies = match.moves.length) {
  if (!match.game.told) return ending(match, plies);
  return [...events(match, continents, plies).flatMap(({ told }) => told.slice(0, 1)), ...ending(match, plies)];
}

// Return { played, told, favourite } of each of the first plies: its move, its events, the weightiest first, and the favourite after it.
// A ply is looked at once, unless its move changes, as by the analysis that comes after it.
function events(match, continents, plies) {
  const { judged } = match;
  const before = found.get(match);
  if (before?.continents !== continents || before.judged !== judged) found.set(match, { continents, judged, known: [] });
  const { known } = found.get(match);
  const changed = known.findIndex(({ played }, n) => played !== match.moves[n]);
  if (changed >= 0) known.length = changed;
  while (known.length < plies) known.push(eventAt(match, continents, known));
  return known.slice(0, plies);
}

function eventAt(match, continents, known) {
  const ply = known.length + 1;
  const old = known.at(-1)?.favourite ?? null;
  const [before, after] = [match.positions[ply - 1], match.positions[ply]];
  const played = match.moves[ply - 1];
  const seat = before.player;
  const now = estimateAt(match, ply);
  const swing = Math.abs(now - estimateAt(match, ply - 1));
  const told = [...battle(match, ply, before), ...lands(match, seat, played.move[1], before, after, continents)]
    .map((each) => ({ ply, seat, ...each, weight: each.weight + swing }));
  const favourite = favouriteAt(now);
  const lost = old && !favourite && percentages(now)[old] <= 50;
  if (favourite && favourite !== old) told.push({ ply, seat: favourite, weight: 0.25 + swing, words: `${match.players[favourite]} becomes the favourite`, chance: true });
  if (lost) told.push({ ply, seat: old, weight: 0.15 + swing, words: `${match.players[old]} is no longer the favourite`, chance: true });
  const near = likelyNearGoal(match, ply);
  if (near && !known.some(({ told: [best] }) => best?.near && best.seat === near.seat)) told.push({ ply, ...near, weight: 0, near: true, chance: true });
  return { played, told: told.sort((a, b) => b.weight - a.weight), favourite: lost ? null : favourite ?? old };
}

// Return the favourite by Maxie's chance of winning; null if the chances are about even.
const favouriteAt = (now) => SEATS.find((seat) => percentages(now)[seat] >= FAVOURITE_PERCENT) ?? null;

// Return { words, seat, aloud }: the sentence about a ply of a match whose story was told up to it, and the player whom the sentence is about, if any.
// The sentence tells the event of this ply. Without an event, it tells how many armies a player near the goal lacks, or the favourite, or who is winning. A favourite
// stays the favourite until the chances are even again, so that a narrow favourite does not come and go. At the start, the sentence tells what wins
// the match. `aloud` is the text for a screen reader: the last event for TOLD_PLIES plies, and then nothing.
export function sentence(match, told, ply) {
  const { players, game, setup: { armies_to_win: goal } } = match;
  const last = told.findLast((each) => each.ply <= ply);
  const aloud = last && (last.end || ply - last.ply < TOLD_PLIES) ? last.words : "";
  if (last?.ply === ply || last?.end) return { ...last, aloud };
  if (!game.told) return { words: `${players.maxie} meets ${players.minnie}`, seat: null, aloud };
  const near = likelyNearGoal(match, ply);
  if (near) return { ...near, aloud };
  const seat = found.get(match).known[ply - 1]?.favourite ?? null;
  const isAhead = seat && percentages(estimateAt(match, ply))[seat] >= WINNING_PERCENT;
  const words = isAhead ? `${players[seat]} is winning` : seat ? `${players[seat]} is the favourite` : ply < OPENING_PLIES ? `First to ${goal} armies wins` : "Too close to call";
  return { words, seat, aloud };
}

// Return { words, seat }: the sentence about a ply for a player of the match, which tells no chances. The words are empty if nothing else is to be told.
export function playerSentence(match, continents, ply) {
  const nothing = { words: "", seat: null };
  if (!match.game.told) return nothing;
  const event = events(match, continents, ply)[ply - 1]?.told.find(({ chance }) => !chance);
  return event ?? nearGoal(match, ply) ?? nothing;
}

// Return { words, seat }: how a match stands at a ply, in two or three words that follow the mark of the player whom they are about, if any.
// They are empty in a game that is not won by armies.
export function summary(match, ply) {
  const { end, game, setup } = match;
  if (match.endsAt(ply)) return { words: `${end.winner ? "Won in" : `${outcome(end)} after`} ${plural(ply, "move")}`, seat: end.winner };
  if (!setup.armies_to_win || !game.score) return { words: "", seat: null };
  const chances = percentages(estimateAt(match, ply));
  const seat = SEATS.find((each) => chances[each] > 50) ?? null;
  return { words: seat ? `${chances[seat]} % chance to win` : "Even", seat };
}

// Return { words, seat }: the player who is near the armies that win at a ply and has more armies than the other player, and how many armies this
// player lacks. Return null if neither player is near.
function nearGoal(match, ply) {
  const { game, players, setup: { armies_to_win: goal } } = match;
  const score = game.score(match.positions[ply]);
  const seat = score.maxie.armies > score.minnie.armies ? "maxie" : "minnie";
  const { armies } = score[seat];
  if (armies < NEAR_GOAL_SHARE * goal || armies === score[other(seat)].armies) return null;
  return { words: `${players[seat]}: ${Math.max(1, goal - armies)} to go`, seat };
}

// Return nearGoal() of a ply; null if the player near the goal has the smaller chance of winning.
function likelyNearGoal(match, ply) {
  const near = nearGoal(match, ply);
  return near && percentages(estimateAt(match, ply))[near.seat] >= 50 ? near : null;
}

// Return the turning points among the events of the first `plies`, in their order: the weightiest ones. The end is none of them.
export function keyMoments(match, continents, plies = match.moves.length) {
  const apart = Math.max(2, plies / 40);
  const chosen = [];
  for (const each of story(match, continents, plies).filter(({ ply, end }) => !end && isTurn(match, ply, plies)).sort((a, b) => b.weight - a.weight)) {
    if (chosen.length < KEY_MOMENTS && chosen.every(({ ply }) => Math.abs(ply - each.ply) >= apart)) chosen.push(each);
  }
  return chosen.sort((a, b) => a.ply - b.ply);
}

// Return true if the chance of winning changes visibly with the move that led to a ply, and stays so for the next plies of the first
// `plies`. The change may come in two steps, because the chance is the mean of two values, of which a move brings one.
function isTurn(match, ply, plies) {
  const last = match.endsAt(plies) ? Math.min(ply + LASTING_PLIES, plies) : ply + LASTING_PLIES;
  if (last > plies) return false; // it may not last
  const before = estimateAt(match, ply - 1);
  const sign = Math.sign(estimateAt(match, ply) - before);
  const change = (at) => sign * (estimateAt(match, at) - before);
  return change(ply) >= (last > ply ? TURN / 2 : TURN) && Array.from({ length: last - ply }, (_, n) => ply + 1 + n).every((at) => change(at) >= TURN);
}

// Return the ply of the weightiest event after a ply; undefined if there is none.
export function nextMoment(match, continents, after) {
  const points = story(match, continents).filter(({ ply, end }) => ply > after && !end);
  return points.sort((a, b) => b.weight - a.weight)[0]?.ply;
}

// Return how tense a live match of Riskless is, from 0 to 5: 2 while both players may win, up to 2 for even chances, up to 1 for
// recent events.
export function tension(match) {
  const { length } = match.moves;
  const recent = story(match, NO_CONTINENTS).filter(({ ply }) => ply > length - RECENT_PLIES);
  return (isClose(match, length) ? 2 : 0) + 2 - 4 * Math.abs(estimateAt(match, length) - 0.5) + Math.min(1, recent.length / 4);
}

// Return true if both players of a match of Riskless may still win at a ply.
export function isClose(match, ply) {
  const now = estimateAt(match, ply);
  return now >= LOST && now <= 1 - LOST;
}

// Return true if a live match of Riskless has been decided for a while at a ply, and its end is not in sight.
export function isSettled(match, ply) {
  const { game, end, positions, setup } = match;
  if (end || !game.told || ply < SETTLED) return false;
  const score = game.score(positions[ply]);
  if (SEATS.some((seat) => score[seat].armies >= NEAR_GOAL_SHARE * setup.armies_to_win)) return false;
  return Array.from({ length: SETTLED }, (_, n) => ply - n).every((each) => !isClose(match, each));
}

// The move that led to a ply, in words; `reader`: the reader's seat. `unplayed`: without the outcome of a battle, for the board before the move.
export function describeMove({ game, moves, players, positions }, ply, reader = /** @type {string | null} */ (null), unplayed = false) {
  if (!ply) return "The start";
  const { move } = moves[ply - 1];
  const before = positions[ply - 1];
  const head = `Move ${ply}, ${before.player === reader ? "you" : players[before.player]}: ${game.text(move)}`;
  const told = game.told?.(before, move);
  if (!told) return head;
  const { what, came, stood } = told;
  const fight = `${came} against ${stood}`;
  const how = {
    won: unplayed ? fight : `${fight}: taken${came > stood ? ` with ${came - stood} left` : ", attackers win ties"}`,
    lost: unplayed ? fight : `${fight}: held with ${stood - came} left`,
    joined: `${came} join ${stood}`,
    took: moveIn(came),
  };
  return `${head}, ${how[what]}`;
}

function battle(match, ply, before) {
  const { move } = match.moves[ply - 1];
  const { what, came, stood } = match.game.told(before, move);
  const fought = Math.min(came, stood);
  if ((what !== "won" && what !== "lost") || fought < MIN_ARMIES) return [];
  const scores = match.game.score(before);
  const seat = before.player;
  const loser = what === "won" ? other(seat) : seat;
  const share = fought / scores[loser].armies;
  if (share < LARGE_BATTLE_SHARE) return [];
  const where = match.game.names[move[1]];
  const words = what === "won" ? `${match.players[seat]} takes ${where}` : `${match.players[other(seat)]} holds ${where}`;
  return [{ seat: other(loser), weight: share, words }];
}

// Continents that the move at `target` won for the mover, or took from the opponent.
function lands(match, seat, target, before, after, continents) {
  const sign = seat === "maxie" ? 1 : -1;
  return continents.filter(([, members]) => members.length > 1 && members.includes(target)).flatMap(([name, members]) => {
    const all = (position, of) => members.every((v) => position.armies[v] * of > 0);
    const size = members.length / match.game.names.length;
    if (all(before, -sign) && !all(after, -sign)) return [{ seat: other(seat), weight: 0.2 + size, words: `${match.players[other(seat)]} loses ${name}`}];
    if (all(after, sign) && !all(before, sign)) return [{ weight: 0.1 + size, words: `${match.players[seat]} holds all of ${name}`}];
    return [];
  });
}

function ending({ end, moves, players }, plies) {
  if (!end || plies < moves.length) return [];
  const words = end.winner ? `${players[end.winner]} wins` : end.reason === "server_fault" ? "The match is void" : "A draw";
  return [{ ply: moves.length, seat: end.winner, weight: 1, words, end: true }];
}
