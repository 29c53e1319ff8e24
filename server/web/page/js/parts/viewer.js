// A match on the page: board, players, moves, values, and the way through its plies.

import { makeBoard } from "../boards/index.js";
import { h, say, set } from "../dom.js";
import { Declared } from "../games/declared.js";
import { GAME_NAMES, SEAT_NAMES, result } from "../text.js";
import { MoveList } from "./movelist.js";
import { Picker } from "./picker.js";
import { Players } from "./players.js";
import { Plot } from "./plot.js";

const STEP_MS = 700;

export class Viewer {
  // link(ply) is the address of a ply; `went(ply)` is told where the reader goes, null for the newest.
  // A person who plays and does not see the board hears each move: `speak`.
  constructor(match, { link, went = () => null, live = false, speak = false }) {
    this.match = match;
    this.went = went;
    this.live = live;
    this.ply = null; // null follows the newest
    this.truth = null; // of each move, on a solved map
    this.board = makeBoard(match.game, (n) => this.picker.spot(n));
    this.picker = new Picker(this.board);
    this.players = new Players(match);
    this.moves = new MoveList(match, link);
    this.plot = new Plot(match, (ply) => this.go(ply));
    this.status = h("p", { class: "status", role: "status" });
    this.told = h("p", { class: "told", role: speak ? "status" : null });
    this.words = h("ul", null);
    this.slider = h("input", { type: "range", min: 0, "aria-label": "Ply", oninput: () => this.go(Number(this.slider.value)) });
    this.actions = h("div", { class: "actions" });
    this.choices = h("div", { class: "actions choices" }); // moves that no cell stands for
    this.element = this.layOut();
    this.onKey = (event) => this.key(event);
    document.addEventListener("keydown", this.onKey);
    if (match.game instanceof Declared) match.game.addEventListener("known", () => this.refreshSoon());
    this.refresh();
  }

  layOut() {
    const { match } = this;
    const step = (label, text, to) => h("button", { type: "button", "aria-label": label, title: label, onclick: to }, text);
    this.runButton = step("Play the moves", "▶", () => this.run());
    this.newest = step(this.live ? "Newest move" : "Last move", "»", () => this.go(null));
    const controls = h("div", { class: "controls" },
      step("Start", "«", () => this.go(0)),
      step("One back", "‹", () => this.go(this.at - 1)),
      this.runButton,
      step("One on", "›", () => this.go(this.at + 1)),
      this.newest, this.slider);
    const name = [GAME_NAMES[match.gameName], match.setup.map, match.control, match.event].filter(Boolean).join(" · ");
    return h("div", { class: "viewer" },
      h("h1", { class: "quiet" }, name),
      this.players.element,
      h("div", { class: "table-top" },
        h("div", { class: "headline" }, this.status, this.actions),
        h("div", { class: "board", tabindex: 0, role: "region", "aria-label": "Board" }, this.board.element),
        this.choices, this.told, controls),
      h("aside", { class: "side", "aria-label": "Moves and values" }, this.plot.element, this.moves.element,
        h("details", null, h("summary", null, "The position in words"), this.words)));
  }

  get at() {
    return this.ply ?? this.match.moves.length;
  }

  // Show a ply; null, and the newest of a live match, follow the match.
  go(ply) {
    const last = this.match.moves.length;
    const to = ply === null ? null : Math.max(0, Math.min(last, ply));
    this.ply = to === last && this.live && !this.match.end ? null : to;
    this.refresh();
    this.went(this.ply);
  }

  // The match has changed: show it with the next picture. Bots may play a hundred plies a second, and
  // a page that nobody looks at need not be drawn.
  refreshSoon() {
    this.due ??= requestAnimationFrame(() => this.refresh());
  }

  // Show the ply that is to be shown.
  refresh() {
    cancelAnimationFrame(this.due);
    this.due = undefined;
    const { match, at } = this;
    const before = at ? match.positions[at - 1] : null;
    const move = at ? match.moves[at - 1].move : null;
    this.board.show(match.positions[at], move, before);
    this.players.show(at);
    this.moves.show(at);
    this.plot.show(at);
    set(this.slider, { max: match.moves.length, "aria-valuetext": `ply ${at} of ${match.moves.length}` });
    this.slider.value = String(at);
    say(this.told, `${this.describe(at, move, before)}${this.judged(at)}`);
    say(this.status, this.state());
    this.words.replaceChildren(...this.board.inWords(match.positions[at]).map((each) => h("li", null, each)));
    if (!this.picker.chosen) this.board.mark(null);
  }

  state() {
    const { match } = this;
    if (match.game.fault) return `The board cannot be shown: ${match.game.fault}`;
    if (match.end) return result(match.end, match.players);
    if (this.message) return this.message;
    if (!match.running && !match.moves.length) return "The players get ready";
    return `Live: ${SEAT_NAMES[match.last.player]} to move`;
  }

  describe(at, move, before) {
    if (!at) return "The start";
    const { game } = this.match;
    const head = `Ply ${at}, ${SEAT_NAMES[before.player]}: ${game.text(move)}`;
    const told = game.told?.(before, move);
    if (!told) return head;
    const how = {
      won: `${told.came} against ${told.stood}: taken`,
      lost: `${told.came} against ${told.stood}: held`,
      joined: `${told.came} join ${told.stood}`,
      took: `${told.came} march in`,
    };
    return `${head}, ${how[told.what]}`;
  }

  // What the move truly was, by the table of a solved map.
  judged(at) {
    const truly = at ? this.truth?.[at - 1] : null;
    return truly ? ` · ${truly.kind}, now a ${truly.now} for ${SEAT_NAMES[this.match.positions[at].player]}` : "";
  }

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const to = { ArrowLeft: this.at - 1, ArrowRight: this.at + 1, Home: 0, End: null }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.go(to);
  }

  run() {
    if (this.running) return this.halt();
    if (this.at >= this.match.moves.length) this.go(0);
    say(this.runButton, "❚❚");
    this.running = setInterval(() => {
      this.go(this.at + 1);
      if (this.at >= this.match.moves.length) this.halt();
    }, STEP_MS);
    return null;
  }

  halt() {
    clearInterval(this.running);
    this.running = null;
    say(this.runButton, "▶");
  }

  stop() {
    this.halt();
    cancelAnimationFrame(this.due);
    this.players.stop();
    document.removeEventListener("keydown", this.onKey);
  }
}
