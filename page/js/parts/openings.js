// Opening explorer: the moves played from a position in the newest matches on its map, with their results.

import { fetchJson } from "../api.js";
import { h, say, set } from "../dom.js";
import { SIDES, mapTitle } from "../text.js";
import { isBuiltIn, read, written } from "./engine.js";
import { percent } from "./values.js";

const LAST_PLY = 40;
const LABELLED_SHARE = 0.2; // of all matches: a shorter part of the bar has no room for its number
const STAY_MS = 250; // a reader who steps through a match passes most positions quickly

export class Openings {
  // play(move) tries a move from the position that is shown. known() is called when it is known whether the map is built in.
  constructor({ game, setup }, play, known) {
    this.game = game;
    this.map = setup.map;
    this.play = play;
    this.position = /** @type {any} */ (undefined);
    this.builtIn = false;
    this.note = h("p", { class: "quiet", role: "status" });
    this.rows = h("tbody", null);
    this.table = h("table", null, h("thead", null, h("tr", null, ["Move", "Matches", "Results"].map((each) => h("th", { scope: "col" }, each)))), this.rows);
    set(this.table, { hidden: true });
    this.element = h("div", { class: "openings" }, this.table, this.note);
    isBuiltIn({ game, setup }).then((builtIn) => {
      this.builtIn = builtIn;
      known();
    });
  }

  // Show the moves played from a position; null during playback, undefined while nobody looks.
  show(position) {
    if (this.position === position) return;
    this.position = position;
    this.askSoon();
  }

  askSoon() {
    clearTimeout(this.due);
    if (this.position === undefined) return;
    if (!this.position) this.list([], "Pause the match to see what was played from a position.");
    else if (this.position.ply > LAST_PLY) this.list([], `Openings end at move ${LAST_PLY}.`);
    else this.due = setTimeout(() => this.ask(), STAY_MS);
  }

  async ask() {
    const { position } = this;
    try {
      const { examined, moves } = await fetchJson(`openings/${encodeURIComponent(this.map)}?position=${encodeURIComponent(written(position))}`);
      const where = `in the newest ${examined === 1 ? "match" : `${examined} matches`} on ${mapTitle(this.map)}`;
      if (position === this.position) this.list(moves, moves.length ? `Played from here ${where}.` : examined ? `Nobody played on from here ${where}.` : `No match on ${mapTitle(this.map)} yet.`);
    } catch (error) {
      if (position === this.position) this.list([], error.message);
    }
  }

  list(moves, note) {
    say(this.note, note);
    set(this.table, { hidden: !moves.length });
    this.rows.replaceChildren(...moves.map((each) => this.row(each)));
  }

  row({ move: text, maxie, drawn, minnie }) {
    const [move] = read(this.game, this.position, [text]);
    const all = maxie + drawn + minnie;
    const results = [[maxie, "maxie", `${SIDES.maxie} won`], [drawn, null, "Drawn"], [minnie, "minnie", `${SIDES.minnie} won`]];
    return h("tr", null,
      h("td", null, move ? h("button", { type: "button", class: "small", onclick: () => this.play(move) }, this.game.text(move)) : text),
      h("td", null, all),
      h("td", null, h("div", { class: "result-bar" }, results.filter(([count]) => count).map(([count, seat, what]) => {
        const part = h("span", { "data-owner": seat, title: what, "aria-label": `${what}: ${percent(count / all)}`, role: "img" }, count / all >= LABELLED_SHARE ? percent(count / all) : "");
        part.style.flexGrow = String(count);
        return part;
      }))));
  }

  stop() {
    clearTimeout(this.due);
  }
}
