// A large board on which something is always played: a live match, and after its end the next one; where nobody plays, a match
// that was played, and on a server that has none yet the one that comes with the page.

import { ask, askOnce } from "../api.js";
import { makeBoard } from "../boards/index.js";
import { surroundings } from "../boards/surroundings.js";
import { h, say, set } from "../dom.js";
import { Declared } from "../games/declared.js";
import { Match } from "../match.js";
import { GAME_NAMES, SEATS, SEAT_NAMES, plural, result, when } from "../text.js";
import { matchLink } from "../parts/matchlist.js";
import { followLive } from "../parts/watching.js";
import { chance, percent } from "../parts/worth.js";

const OVER_MS = 4000; // for how long the end of a match is shown
const PLY_MS = 700; // of a match that was played
const DEMO = new URL("../../demo.jsonl", import.meta.url);

export class Stage {
  // begun() is called when the first match is there.
  constructor(begun) {
    this.begun = begun;
    this.match = /** @type {any} */ (null);
    this.board = /** @type {any} */ (null);
    this.coming = /** @type {any} */ (null); // the match whose map is asked for
    this.last = ""; // the match that was shown last
    this.live = false; // whether a match in progress is shown
    this.replaying = false;
    this.at = 0; // the ply of one that was played
    this.running = true;
    this.kind = h("span", { class: "kind" });
    this.title = h("h2", { class: "stage-title" }, this.kind);
    this.sides = Object.fromEntries(SEATS.map((seat) => [seat, this.side(seat)]));
    this.lead = h("p", { class: "lead" });
    this.place = h("div", { class: "stage-board" });
    this.told = h("p", { class: "told" });
    this.link = h("a", { class: "button plain", href: "/", hidden: true }, "Watch this match");
    this.pause = h("button", { type: "button", onclick: () => this.toggle() }, "Pause");
    this.element = h("section", { class: "stage", "aria-label": "A match" },
      h("div", { class: "stage-head" }, this.title, this.link, this.pause),
      h("div", { class: "stage-sides" }, SEATS.map((seat) => this.sides[seat].element)),
      this.lead, this.place, this.told);
  }

  side(seat) {
    const name = h("span", { class: "name" });
    const score = h("span", { class: "score" });
    const reached = h("span", { class: "reached" });
    const element = h("div", { class: "player", "data-owner": seat },
      h("span", { class: "shape", role: "img", "aria-label": `${SEAT_NAMES[seat]}:` }), name, score,
      h("div", { class: "goal", "aria-hidden": "true" }, reached));
    return { element, name, score, reached };
  }

  // The matches in progress, as a listing has them.
  offer(matches) {
    this.offered = matches;
    if (this.running && !this.live) this.next();
  }

  // Go on to another match: a live one where there is one that was not just shown.
  next() {
    const fresh = (this.offered ?? []).filter((each) => each.match !== this.last);
    const chosen = fresh.find((each) => each.game === "riskless") ?? fresh[0];
    if (chosen) this.follow(chosen.match);
    else if (!this.replaying) this.replay();
  }

  follow(id) {
    clearTimeout(this.stepping);
    this.unwatch?.();
    this.live = true;
    this.replaying = false;
    this.match = null;
    this.coming = null;
    this.last = id;
    this.unwatch = followLive(id, (match) => this.changed(match), () => this.over());
  }

  changed(match) {
    if (!this.running && this.match === match && !match.end) return;
    if (this.match !== match) {
      if (this.coming !== match) this.prepare(match, () => this.changed(match));
      return;
    }
    this.board.whenStill(() => {
      this.due ??= requestAnimationFrame(() => this.draw(match.moves.length));
    });
    if (match.end && !this.ended && this.running) {
      this.ended = true;
      this.stepping = setTimeout(() => this.over(), OVER_MS);
    }
  }

  // What was shown is over.
  over() {
    this.coming = null;
    this.live = false;
    this.replaying = false;
    if (this.running) this.next();
  }

  async replay() {
    this.unwatch?.();
    this.unwatch = null;
    this.live = false;
    this.replaying = true;
    const record = await this.recorded();
    if (this.stopped || this.live || !record) return;
    const match = Match.fromRecord(record);
    this.last = match.id;
    this.prepare(match, () => this.step(0));
  }

  // A match that was played, not the one that was shown last; null where the server does not answer as it should.
  async recorded() {
    try {
      const { matches } = await ask("records?limit=12");
      const whole = matches.filter((each) => each.plies > 4 && each.result.reason !== "server_fault");
      const others = whole.filter((each) => each.match !== this.last && GAME_NAMES[each.game]);
      const found = others.find((each) => each.game === "riskless") ?? others[0] ?? whole[0];
      if (found?.map && !found.map.includes(":")) askOnce(`map/${encodeURIComponent(found.map)}`).catch(() => null); // it will be drawn, if it is a shipped one
      if (found) return await ask(`record/${encodeURIComponent(found.match)}`);
      const demo = await fetch(DEMO);
      return demo.ok ? await demo.json() : null;
    } catch (error) {
      say(this.told, error.message);
      return null;
    }
  }

  step(ply) {
    if (this.stopped || this.live) return;
    this.at = ply;
    this.draw(ply);
    if (!this.running) return;
    const last = ply >= this.match.moves.length;
    this.stepping = setTimeout(() => (last ? this.over() : this.step(ply + 1)), last ? OVER_MS : PLY_MS);
  }

  toggle() {
    this.running = !this.running;
    say(this.pause, this.running ? "Pause" : "Go on");
    clearTimeout(this.stepping);
    if (!this.running) return;
    if (this.live && this.match && !this.match.end) this.changed(this.match);
    else if (this.replaying && this.match) this.step(this.at);
    else this.over();
  }

  // Begin with a match, as soon as it is known what its map looks like; then go on.
  async prepare(match, then) {
    this.coming = match;
    if (match.game.names) await surroundings(match.game.setup);
    if (this.stopped || this.coming !== match) return;
    this.coming = null;
    this.begin(match);
    then();
  }

  begin(match) {
    this.match = match;
    this.ended = false;
    this.board = makeBoard(match.game, () => null, { whole: true });
    this.place.replaceChildren(this.board.element);
    for (const seat of SEATS) say(this.sides[seat].name, match.players[seat]);
    const game = [GAME_NAMES[match.gameName] ?? match.gameName, match.setup.map].filter(Boolean).join(" · ");
    say(this.kind, this.live ? `Live: ${game}` : match.started ? `Replay: ${game}, ${when(match.started)}` : `A match: ${game}`);
    set(this.kind, { "data-live": this.live });
    set(this.link, { hidden: match.event === "demo", href: matchLink(match.id) });
    if (match.game instanceof Declared) match.game.addEventListener("known", () => this.live && this.changed(match));
    this.begun();
  }

  draw(ply) {
    cancelAnimationFrame(this.due);
    this.due = undefined;
    const { match } = this;
    const before = ply ? match.positions[ply - 1] : null;
    const move = ply ? match.moves[ply - 1].move : null;
    this.board.show(match.positions[ply], move, before);
    say(this.told, move === null ? "The start" : `${match.players[before.player]}: ${match.game.text(move)}`);
    this.compare(ply);
  }

  // Who is winning, and by how much.
  compare(ply) {
    const { match } = this;
    const goal = match.setup.armies_to_win;
    const score = goal ? match.game.score(match.positions[ply]) : null;
    for (const seat of SEATS) {
      const { score: text, reached } = this.sides[seat];
      say(text, score ? `${score[seat].armies} of ${goal} armies to win` : "");
      reached.style.width = score ? `${Math.min(100, (100 * score[seat].armies) / goal).toFixed(1)}%` : "0";
    }
    const over = match.end && ply === match.moves.length;
    say(this.lead, over ? result(match.end, match.players) : score ? leads(score, match) : "");
  }

  stop() {
    this.stopped = true;
    clearTimeout(this.stepping);
    cancelAnimationFrame(this.due);
    this.unwatch?.();
  }
}

function leads({ maxie, minnie }, match) {
  const ahead = maxie.armies - minnie.armies;
  if (!ahead) return "As many armies on both sides";
  const seat = ahead > 0 ? "maxie" : "minnie";
  return `${match.players[seat]} leads by ${plural(Math.abs(ahead), "army", "armies")}: wins about ${percent(chance(100 * Math.abs(ahead), match.setup))} of such matches`;
}
