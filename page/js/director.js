// Choice of matches for a broadcast: the most interesting live match, another one during a quiet stretch, and a finished match
// if nobody plays. A screen shows the chosen match.

import { fetchJson } from "./api.js";
import { PLAIN, loadMapData } from "./boards/mapdata.js";
import { isStill } from "./preferences.js";
import { Match } from "./match.js";
import { followLive, glance } from "./parts/livematches.js";
import { Playback } from "./playback.js";
import { SETTLED, isClose, isSettled, keyMoments, nextMoment, tension } from "./story.js";
import { GAME_NAMES, SEATS } from "./text.js";

const OVER_MS = 6000; // display time of a match's end
const QUIET_MS = 12_000; // time without a move until another board is shown
const RETRY_MS = 700;
const RETRIES = 6; // attempts to load the record of a match that has just ended
const MAX_CANDIDATES = 6; // live matches whose positions are compared before a choice
const DEMO_URL = new URL("../demo.jsonl", import.meta.url);
const PERSON_PROGRAM = "a person at the page";
const OTHER_MAP_WORTH = 3; // points of a match on a map that no other board shows
const CLEAR_MAPS = new Set(["italy", "poland"]); // built-in maps of few territories, which a stranger reads at once
const CLEAR_MAP_WORTH = 1; // points of a match on one of them
const DEFAULT_RATING = 1500; // assumed rating of a bot without a rating

// Return the newest finished matches.
export const requestFinished = async () => (await fetchJson("records?limit=12")).matches;

export class Director {
  // screen.begin(match, playback, live) prepares a board, screen.show(ply) draws on it, screen.changed() is called after a pause, after
  // queued moves, and when nothing is left to show. `taken` has the map of each match that another director shows, by id;
  // finished() returns the newest finished matches.
  constructor(screen, { taken = new Map(), finished = requestFinished } = {}) {
    this.screen = screen;
    this.taken = taken;
    this.finished = finished;
    this.running = !isStill();
    this.offered = /** @type {any[]} */ ([]);
    this.people = new Set(); // names of people who play in a browser
    this.finals = new Set(); // names of knockouts in their last round
    this.ratings = new Map();
    this.playback = /** @type {any} */ (null);
    this.match = /** @type {any} */ (null);
    this.coming = /** @type {any} */ (null); // the match that is shown as soon as its map is loaded
    this.id = ""; // id of the current or next match
    this.busy = false; // true while a match is shown or loading
    this.idle = false; // true if other directors show all available matches
    this.choosing = /** @type {any} */ (null); // the glances at the candidates of the next choice
    this.following = /** @type {any} */ (undefined); // the live match that is shown next, chosen at the end of this one; null if there is none
    this.shown = /** @type {string[]} */ ([]); // ids of matches shown before, the latest at the end
    this.comparedAt = 0; // ply of the current match at which it began or a closer one was last looked for
  }

  // Handle a listing of the server.
  offer({ matches, bots, events = [] }) {
    this.offered = matches;
    this.people = new Set(bots.filter((each) => each.program === PERSON_PROGRAM).map((each) => each.name));
    this.finals = new Set(events.filter(({ format, round, rounds }) => format === "knockout" && round === rounds).map((each) => each.event));
    if (!this.busy) this.next();
  }

  // Set the ratings of bots, by game and name.
  rate(standings) {
    this.ratings = new Map(standings.map(({ game, bot, rating }) => [`${game}/${bot}`, rating]));
  }

  // Return the live matches that no director shows, the most interesting first. `seen`: states of some of them, by id.
  ranked(seen = new Map()) {
    const maps = this.othersMaps;
    return this.offered
      .filter(({ match }) => match !== this.id && !this.taken.has(match))
      .map((each) => ({ each, score: interest(each, this, seen.get(each.match)) - (this.shown.includes(each.match) ? 4 : 0) + (maps.has(each.map) ? 0 : OTHER_MAP_WORTH) }))
      .sort((a, b) => b.score - a.score)
      .map(({ each }) => each);
  }

  // Return the maps that other directors show.
  get othersMaps() {
    return new Set([...this.taken].filter(([id]) => id !== this.id).map(([, map]) => map));
  }

  // Continue with another match.
  next() {
    this.busy = true;
    const chosen = this.following && this.ranked().find(({ match }) => match === this.following.match);
    if (chosen) this.follow(chosen.match);
    else this.choose((best) => (best ? this.follow(best.match) : this.replay()));
  }

  // Call chosen() with the most interesting live match, or null. The positions of several candidates are compared first, if there are at least
  // `least`. `suits(match)`: true for the states of the matches to choose from; the state is undefined if it is not known.
  async choose(chosen, least = 2, suits = (/** @type {any} */ _match) => true) {
    const candidates = this.ranked().filter(({ game }) => game === "riskless").slice(0, MAX_CANDIDATES);
    const choosing = candidates.length >= least ? Promise.all(candidates.map(({ match }) => glance(match))) : null;
    this.choosing = choosing;
    const seen = choosing ? await choosing : [];
    if (this.stopped || this.choosing !== choosing) return;
    this.choosing = null;
    const states = new Map(seen.filter(Boolean).map((match) => [match.id, match]));
    chosen(this.ranked(states).find(({ match }) => suits(states.get(match))) ?? null);
  }

  // `map`: that of the next match; by default as listed, or as known of a match that is followed to its record.
  leave(id, map = this.offered.find(({ match }) => match === id)?.map ?? this.taken.get(id)) {
    clearTimeout(this.waiting);
    this.choosing = null;
    this.following = undefined;
    this.unwatch?.();
    this.unwatch = null;
    this.taken.delete(this.id);
    if (this.id && this.id !== id) this.shown = [...this.shown, this.id].slice(-8);
    this.id = id;
    if (id) this.taken.set(id, map);
    this.busy = true;
    this.idle = false;
    this.coming = null;
  }

  follow(id) {
    this.leave(id);
    this.unwatch = followLive(id, (match) => this.changed(match), () => this.replay(id));
  }

  changed(match) {
    if (match === this.match) this.playback.grown();
    else if (match !== this.coming) this.prepare(match, true);
  }

  // Show a finished match: the given one, or one that was not shown before.
  async replay(id = "", retries = RETRIES) {
    if (id && this.match?.id === id) return; // already shown to its end
    this.leave(id);
    try {
      const record = await (id ? fetchJson(`record/${encodeURIComponent(id)}`) : this.recorded());
      if (this.stopped || (id && this.id !== id)) return;
      if (record) this.prepare(Match.fromRecord(record), false);
      else if (!this.id) this.rest();
    } catch {
      if (this.stopped || (id && this.id !== id)) return;
      // A match that has just ended may not be in the store yet.
      this.waiting = setTimeout(() => (id && retries ? this.replay(id, retries - 1) : this.next()), RETRY_MS);
    }
  }

  // Wait for a listing with another match.
  rest() {
    this.busy = false;
    this.idle = true;
    this.screen.changed();
  }

  // Return a finished match, preferably one that was not shown before; on a server without matches the page's own example; null if
  // other directors show them all.
  async recorded() {
    const matches = await this.finished();
    const whole = matches.filter((each) => each.plies > 4 && each.result.reason !== "server_fault");
    const free = whole.filter((each) => !this.taken.has(each.match));
    const fresh = free.filter((each) => !this.shown.includes(each.match) && GAME_NAMES[each.game]);
    const played = fresh.filter(({ game }) => game === "riskless");
    const maps = this.othersMaps;
    const found = played.find((each) => !maps.has(each.map)) ?? played[0] ?? fresh[0] ?? free[0];
    if (found) {
      this.leave(found.match, found.map);
      return fetchJson(`record/${encodeURIComponent(found.match)}`);
    }
    if (whole.length) return null;
    const demo = await (await fetch(DEMO_URL)).json();
    if (this.taken.has(demo.match)) return null;
    this.leave(demo.match);
    return demo;
  }

  // The current match stays until the map of the next one is loaded.
  async prepare(match, live) {
    this.coming = match;
    const { continents, short_names: shortNames } = match.game.names ? await loadMapData(match.game.setup) : PLAIN;
    if (this.stopped || this.coming !== match) return;
    this.coming = null;
    this.match = match;
    this.continents = continents;
    this.shortNames = shortNames;
    this.playback?.stop();
    this.playback = new Playback(match, (ply) => this.show(ply), { live, changed: () => this.screen.changed(), moment: (ply) => nextMoment(match, continents, ply) });
    this.comparedAt = this.playback.at;
    this.screen.begin(match, this.playback, live);
    if (!this.running) {
      const [moment] = keyMoments(match, continents);
      this.playback.go(live ? match.moves.length : moment?.ply ?? 0);
      this.playback.pause();
      return;
    }
    this.show(this.playback.at);
    this.playback.running = false;
    this.playback.play();
  }

  show(ply) {
    this.screen.show(ply);
    clearTimeout(this.waiting);
    if (!this.running) return;
    const { isOver, isOpen, behind } = this.playback;
    if (isOver) this.end();
    else if (isOpen && behind === 0) this.waiting = setTimeout(() => this.cut(), QUIET_MS);
    if (isOpen && !this.choosing && ply >= this.comparedAt + SETTLED && isSettled(this.match, ply)) this.cutToCloser(ply);
  }

  // Show the end for a while, and choose what comes next, so that the screen can announce it.
  end() {
    this.waiting = setTimeout(() => this.next(), OVER_MS);
    if (this.following !== undefined) return;
    this.following = null;
    this.choose((best) => {
      this.following = best;
      this.screen.changed();
    });
  }

  // Nothing has moved for a while: look for another board.
  cut() {
    this.choose((best) => best && this.follow(best.match));
  }

  // The match has been decided for a while: look for a closer one. If this one has ended meanwhile, its end is shown.
  cutToCloser(ply) {
    this.comparedAt = ply;
    this.choose((best) => best && this.running && this.playback.isOpen && this.follow(best.match), 1, (match) => match && isClose(match, match.moves.length));
  }

  toggle() {
    this.running = !this.running;
    clearTimeout(this.waiting);
    if (!this.playback) return;
    if (!this.running) this.playback.pause();
    else if (this.playback.isOver) this.next();
    else this.playback.play();
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.waiting);
    this.taken.delete(this.id);
    this.playback?.stop();
    this.unwatch?.();
  }
}

// Return the score by which a live match is chosen: maps, those that are clear more than others, finals, people, and high and close ratings score more, and so does a tense
// position. `match`: the state of the match, if it is known.
export function interest({ game, map = "", players, rated, event }, { people, ratings, finals }, match = /** @type {any} */ (null)) {
  const [maxie, minnie] = SEATS.map((seat) => ratings.get(`${game}/${players[seat]}`) ?? DEFAULT_RATING);
  return (game === "riskless" ? 3 : 0) + (CLEAR_MAPS.has(map) ? CLEAR_MAP_WORTH : 0) + (SEATS.some((seat) => people.has(players[seat])) ? 2 : 0) + (finals.has(event) ? 4 : 0)
    + (maxie + minnie - 2 * DEFAULT_RATING) / 400 - Math.min(2, Math.abs(maxie - minnie) / 400) + (rated ? 0.5 : 0) + (match ? tension(match) : 0);
}
