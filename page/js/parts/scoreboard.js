// The scoreboard of a match: both players with their armies and clocks, and a bar of which each has as much as its chance of winning.
// Above each end of the bar is the chance of its player, and at the end of the match who won. Who plays has a bar of each player's way to the armies that win instead.

import { addressOf } from "../router.js";
import { chanceAt, percentages } from "../chances.js";
import { h, say, set, svg } from "../dom.js";
import { SEATS, SIDES, botOf, clock, outcome, plural } from "../text.js";

const LOW_MS = 5000;
export const SHORT_MS = 20_000; // left on the reader's own clock

export class Scoreboard {
  // title: what stands between the players. own: the reader's seat, null for a spectator. `compact`: names, armies and the bar alone, without
  // links, and with the words of the bar for a screen reader only.
  constructor({ title = /** @type {HTMLElement | null} */ (null), own = /** @type {string | null} */ (null), compact = false } = {}) {
    this.own = own;
    this.compact = compact;
    this.match = /** @type {any} */ (null);
    this.behind = false; // newer plies were played
    this.timer = undefined;
    this.players = Object.fromEntries(SEATS.map((seat) => [seat, this.makePlayer(seat)]));
    this.leaders = SEATS.map(() => h("span", { class: "name" }));
    this.shares = SEATS.map(() => h("span"));
    this.labels = compact ? [] : SEATS.map((seat, n) => h("strong", { class: "share-of", "data-owner": seat }, this.leaders[n], " ", this.shares[n]));
    this.meaning = h("span", { class: "chance-of" });
    this.part = svg("rect", { class: "maxie", width: 50, height: 4 });
    this.bar = h("p", { class: "tug-bar", "data-unknown": true, role: compact && "img" },
      svg("svg", { viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { class: "minnie", width: 100, height: 4 }), this.part),
      compact ? null : [this.labels[0], this.meaning, this.labels[1]]);
    this.element = h("div", { class: compact ? "scoreboard compact" : "scoreboard" },
      h("div", { class: "sides" }, title, SEATS.map((seat) => this.players[seat].element)), this.bar);
  }

  makePlayer(seat) {
    const name = h(this.compact ? "span" : "a", { class: "name" });
    const [armies, goal] = [h("strong"), h("span", { class: "goal-of" })];
    const time = h("span", { class: "clock", role: "timer", "aria-label": `Clock of ${SIDES[seat]}` });
    const facts = this.compact ? null : h("span", { class: "line facts-of" });
    const rank = this.compact ? null : h("span", { class: "line rank-of" });
    const race = this.own !== null ? svg("svg", { class: "race", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { height: 4 })) : null;
    const element = h("div", { class: "player", "data-owner": seat }, h("span", { class: "shape", role: "img", "aria-label": `${SIDES[seat]}:` }), name,
      h("span", { class: "total" }, armies, goal), this.compact ? null : [rank, time, facts, race]);
    return { element, name, armies, goal, rank, time, facts, race };
  }

  // Show the armies and the chances at a ply. `behind`: newer plies were played. `ratings`: those of bots, by game and name. `tried`: the position of the
  // reader's own line, or before a mistake, and its chance. `before`: it is the position before a mistake, whose move is drawn.
  show(match, ply, { behind = false, ratings = /** @type {Map<string, number> | null} */ (null), tried = /** @type {any} */ (null), before = false } = {}) {
    this.match = match;
    this.behind = behind;
    const share = tried ? tried.share : chanceAt(match, ply);
    const end = ply === match.moves.length && !tried ? match.end : null;
    const chances = percentages(share ?? 0.5);
    const ahead = SEATS.find((seat) => chances[seat] > 50);
    const score = match.setup.armies_to_win && match.game.score?.(tried?.position ?? match.positions[ply]);
    set(this.bar, { "data-unknown": share === null, "data-over": Boolean(end) });
    set(this.part, { width: chances.maxie });
    const told = SEATS.map((seat) => (!end ? [this.nameOf(seat), `${chances[seat]} %`] : seat === (ahead ?? "maxie") ? [ahead ? this.nameOf(seat) : "", outcome(end, this.own)] : ["", ""]));
    if (this.compact) set(this.bar, { "aria-label": `${end ? "" : "Chance of winning: "}${told.map((each) => each.join(" ").trim()).filter(Boolean).join(", ")}` });
    say(this.meaning, end ? "" : before ? "Chance before the move" : "Chance of winning");
    this.labels.forEach((label, n) => {
      set(label, { "data-leads": SEATS[n] === ahead });
      say(this.leaders[n], told[n][0]);
      say(this.shares[n], told[n][1]);
    });
    for (const seat of SEATS) this.showPlayer(seat, score, ratings?.get(`${match.gameName}/${match.bots[seat]}`));
    if (this.timer) this.tick();
  }

  showPlayer(seat, score, rating) {
    const { match, players: { [seat]: player } } = this;
    say(player.name, this.nameOf(seat));
    say(player.armies, score ? String(score[seat].armies) : "");
    const bot = match.bots[seat];
    set(player.name, { title: bot === botOf(bot) ? bot : `Another process of ${botOf(bot)}` });
    say(player.goal, score ? ` / ${match.setup.armies_to_win}` : "");
    if (this.compact) return;
    set(player.name, { href: match.event === "demo" ? null : addressOf("bot", botOf(bot)) }); // the page's own example is of bots that have no page
    say(player.rank, rating ? `rated ${Math.round(rating)}` : "");
    if (player.race) {
      set(player.race, { hidden: !score });
      set(player.race.firstElementChild, { width: score ? ((100 * Math.min(score[seat].armies, match.setup.armies_to_win)) / match.setup.armies_to_win).toFixed(1) : 0 });
    }
    say(player.facts, score ? `${plural(score[seat].places, "territory", "territories")}, +${score[seat].growth} a move` : "");
  }

  nameOf(seat) {
    return seat === this.own ? "You" : this.match.players[seat];
  }

  // Show the clocks, which run by themselves, until `stop`.
  start() {
    this.timer = setInterval(() => this.tick(), 100);
    this.tick();
  }

  tick() {
    const { match, behind } = this;
    for (const seat of SEATS) {
      const { time, element } = this.players[seat];
      // During delayed playback the current clocks are not shown.
      const ms = behind || (match.end && match.perMove) ? null : match.clockNow(seat);
      say(time, ms === null ? "" : clock(ms));
      set(element, { "data-running": !behind && match.running === seat && !match.end, "data-low": ms !== null && ms < (seat === this.own ? SHORT_MS : LOW_MS) && !match.perMove });
    }
  }

  stop() {
    clearInterval(this.timer);
  }
}
