// An event, live while it is played: how far it is, its boards, its table, what is due, and its sequential test.

import { to } from "../address.js";
import { ask } from "../api.js";
import { h, say } from "../dom.js";
import { LiveBoard } from "../parts/liveboard.js";
import { pastItem } from "../parts/matchlist.js";
import { cross, eventRows, standing } from "../parts/tables.js";
import { onListing } from "../spectator.js";
import { GAME_NAMES, plural } from "../text.js";

const BOARDS = 4;
const AGAIN_MS = 1500;

export class EventView {
  constructor(main, [event]) {
    this.event = event;
    this.boards = new Map();
    this.drawn = "";
    this.about = h("p", { class: "quiet" });
    this.far = h("p", { class: "status" }, "Loading …");
    this.test = h("div");
    this.live = h("ul", { class: "cards now" });
    this.playing = h("section", { hidden: true }, h("h2", null, "Now"), this.live);
    this.table = h("section");
    this.due = h("section");
    this.past = h("section");
    this.fault = h("p", { class: "fault", role: "alert" });
    main.replaceChildren(h("h1", null, `Ladder ${event}`), this.about, this.far, this.test, this.fault, this.playing, this.table, this.due, this.past);
    this.unlist = onListing(({ matches }) => this.list(matches.filter((each) => each.event === event)));
    this.load();
  }

  // Boards stay while their matches last; whatever ends makes the table another.
  list(matches) {
    const shown = matches.slice(0, BOARDS);
    for (const [id, board] of this.boards) {
      if (shown.some(({ match }) => match === id)) continue;
      board.stop();
      board.element.remove();
      this.boards.delete(id);
    }
    for (const each of shown) {
      if (this.boards.has(each.match)) continue;
      const board = new LiveBoard(each);
      this.boards.set(each.match, board);
      this.live.append(board.element);
    }
    this.playing.hidden = !shown.length;
    const ids = matches.map(({ match }) => match).join();
    if (this.ids !== undefined && ids !== this.ids) this.loadSoon();
    this.ids = ids;
  }

  loadSoon() {
    this.waiting ??= setTimeout(() => {
      this.waiting = undefined;
      this.load();
    }, AGAIN_MS);
  }

  async load() {
    const name = encodeURIComponent(this.event);
    try {
      const [told, records, table] = await Promise.all([ask(`event?name=${name}`), ask(`records?event=${name}&limit=12`),
        ask(`table?event=${name}`).catch(() => null)]);
      if (this.stopped) return;
      this.show(told, records.matches, table);
      say(this.fault, "");
    } catch (error) {
      if (this.stopped) return;
      say(this.far, "");
      say(this.fault, error.message);
    }
  }

  show(told, matches, table) {
    const words = JSON.stringify([told, matches, table]);
    if (words === this.drawn) return; // what has not changed keeps its focus and its scrolling
    this.drawn = words;
    const { plan, counted, finished } = told;
    say(this.about, plan ? about(plan) : "");
    say(this.far, far(told));
    this.test.replaceChildren(...(plan?.sprt ? [sprt(plan.sprt, plan)] : []));
    const rows = table ? eventRows(table.rows) : [];
    this.table.replaceChildren(h("h2", null, "Standings"),
      ...(rows.length
        ? [h("p", { class: "quiet" }, `From ${plural(table.counted, "match", "matches")}; Elo relative to the average, with its 95 % error.`),
          standing(rows, "Elo"), cross(rows.map((row) => row.bot), table.crosses)].filter(Boolean)
        : [h("p", { class: "quiet" }, "No match of it is finished yet.")]));
    this.due.replaceChildren(...(plan?.due.length && !finished ? due(plan.due) : []));
    this.past.replaceChildren(...(matches.length ? [h("h2", null, "Latest matches"), h("ul", { class: "cards" }, matches.map(pastItem)),
      counted > matches.length ? h("p", null, h("a", { href: `/search?event=${encodeURIComponent(this.event)}` }, "All its matches")) : null].filter(Boolean) : []));
  }

  stop() {
    this.stopped = true;
    this.unlist();
    clearTimeout(this.waiting);
    for (const board of this.boards.values()) board.stop();
  }
}

function about({ kind, game, maps, format, rounds, time_control, bots }) {
  const each = rounds === null ? "without end" : plural(rounds, "round");
  const where = [GAME_NAMES[game] ?? game, maps.join(", ")].filter(Boolean).join(" ");
  return `${kind === "match" ? "A match" : format} of ${plural(Object.keys(bots).length, "bot")}, ${each} · ${where} · ${time_control}`;
}

function far({ plan, counted, finished }) {
  const played = Math.max(counted, plan?.played ?? 0);
  if (finished) return `Over: ${plural(played, "match", "matches")} played.`;
  if (!plan) return `${plural(played, "match", "matches")} played.`;
  return plan.matches === null ? `In progress: ${plural(played, "match", "matches")} played.` : `In progress: ${played} of ${plan.matches} matches played.`;
}

function sprt({ elo0, elo1, llr, lower, upper, verdict, pairs }, { bots }) {
  const [first, second] = Object.keys(bots);
  const said = {
    open: `Not settled yet after ${plural(pairs, "pair")}.`,
    H0: `Settled: ${first} is ${elo0} Elo from ${second}, not ${elo1}.`,
    H1: `Settled: ${first} is ${elo1} Elo from ${second}, not ${elo0}.`,
  }[verdict];
  return h("section", { class: "sprt" }, h("h2", null, "Sequential test"),
    h("p", null, `${said} The log likelihood ratio is ${llr.toFixed(2)}; the test ends at ${lower.toFixed(2)} (${elo0} Elo) or ${upper.toFixed(2)} (${elo1} Elo).`),
    h("meter", { min: lower, max: upper, value: llr, "aria-label": "Log likelihood ratio" }, llr.toFixed(2)));
}

function due(matches) {
  return [h("h2", null, "Next"), h("ol", { class: "due" }, matches.map(({ maxie, minnie, map, round }) => h("li", null,
    h("a", { href: to("versus", maxie, minnie) }, `${maxie} v ${minnie}`), h("span", { class: "quiet" }, ` ${[map, `round ${round}`].filter(Boolean).join(" · ")}`))))];
}
