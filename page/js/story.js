// The events of a match, each in a sentence: large battles, continents that are won and lost, who becomes the favourite.

import { estimateAt, percentages } from "./chances.js";
import { SEATS, other, outcome, plural } from "./text.js";

const KEY_MOMENTS = 5;
const LARGE_BATTLE_SHARE = 0.2; // of all armies of a player, in one battle
const MIN_ARMIES = 5; // armies in a battle that is told
const FAVOURITE_PERCENT = 60; // the chance from which on a player is the favourite, rounded as the bar shows it
const LOST = 0.15; // the chance below which a player hardly wins any more
const NEAR_GOAL_SHARE = 0.8; // of the armies that win
const OPENING_PLIES = 8; // plies that are introduced by what wins the match
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
  return [...events(match, continents, plies).flatMap(({ best }) => best ?? []), ...ending(match, plies)];
}

// Return { played, best, favourite } of each of the first plies: its move, its event if it has one, and the favourite after it.
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
  return { played, best: told.sort((a, b) => b.weight - a.weight)[0], favourite: lost ? null : favourite ?? old };
}

// Return the favourite by Maxie's chance of winning; null if the chances are about even.
const favouriteAt = (now) => SEATS.find((seat) => percentages(now)[seat] >= FAVOURITE_PERCENT) ?? null;

// Return { words, seat, aloud }: the sentence about a ply of a match whose story was told up to it, and the player whom it is about, if any. It is
// the event of this ply. Otherwise it is how many armies a player lacks who is near the goal, or who is the favourite: whoever became it, until the
// chances are even again, so that a narrow one does not come and go. At the start it is what wins the match. `aloud`: what is said of it, which is
// the last event, so that each is said once.
export function sentence(match, told, ply) {
  const { players, game, setup: { armies_to_win: goal } } = match;
  const last = told.findLast((each) => each.ply <= ply);
  if (last?.ply === ply || last?.end) return { ...last, aloud: last.words };
  if (!game.told) {
    const words = `${players.maxie} meets ${players.minnie}`;
    return { words, seat: null, aloud: words };
  }
  const near = nearGoal(match, ply);
  if (near) return { ...near, aloud: last?.words ?? near.words };
  const seat = found.get(match).known[ply - 1]?.favourite ?? null;
  const words = seat ? `${players[seat]} is the favourite` : ply < OPENING_PLIES ? `First to ${goal} armies wins` : "Too close to call";
  return { words, seat, aloud: last?.words ?? words };
}

// Return { words, seat }: the same for a player of the match, who is not told the chances; without words if there is nothing else to tell.
export function playerSentence(match, told, ply) {
  const event = told.find((each) => each.ply === ply && !each.chance);
  return event ?? (match.game.told ? nearGoal(match, ply) : null) ?? { words: "", seat: null };
}

// Return { words, seat }: how a match stands at a ply, in two or three words that follow the mark of the player whom they are about, if any.
// They are empty in a game that is not won by armies.
export function summary(match, ply) {
  const { end, game, setup } = match;
  if (match.endsAt(ply)) return { words: `${end.winner ? "won in" : `${outcome(end)} after`} ${plural(ply, "move")}`, seat: end.winner };
  if (!setup.armies_to_win || !game.score) return { words: "", seat: null };
  const chances = percentages(estimateAt(match, ply));
  const seat = SEATS.find((each) => chances[each] > 50) ?? null;
  return { words: seat ? `${chances[seat]} % to win` : "Even", seat };
}

// Return { words, seat }: who has come near the armies that win at a ply, with more of them than the other player and no smaller chance, and how
// many this player still lacks; null if nobody has.
function nearGoal(match, ply) {
  const { game, players, setup: { armies_to_win: goal } } = match;
  const score = game.score(match.positions[ply]);
  const seat = score.maxie.armies > score.minnie.armies ? "maxie" : "minnie";
  const { armies } = score[seat];
  if (armies < NEAR_GOAL_SHARE * goal || armies === score[other(seat)].armies || percentages(estimateAt(match, ply))[seat] < 50) return null;
  return { words: `${players[seat]} needs ${plural(Math.max(1, goal - armies), "more army", "more armies")}`, seat };
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

// The move that led to a ply, in words; `reader`: the reader's seat.
export function describeMove({ game, moves, players, positions }, ply, reader = /** @type {string | null} */ (null)) {
  if (!ply) return "The start";
  const { move } = moves[ply - 1];
  const before = positions[ply - 1];
  const head = `Move ${ply}, ${before.player === reader ? "you" : players[before.player]}: ${game.text(move)}`;
  const told = game.told?.(before, move);
  if (!told) return head;
  const { what, came, stood } = told;
  const how = {
    won: `${came} against ${stood}: taken${came > stood ? ` with ${came - stood} left` : ", attackers win ties"}`,
    lost: `${came} against ${stood}: held with ${stood - came} left`,
    joined: `${came} join ${stood}`,
    took: `${came} march in`,
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
