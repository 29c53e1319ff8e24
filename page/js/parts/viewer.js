// A match on the page: board, players, moves, values, and the way through its plies.

import { makeBoard } from "../boards/index.js";
import { h, say, set, svg } from "../dom.js";
import { Declared } from "../games/declared.js";
import { GAME_NAMES, SEAT_NAMES, result } from "../text.js";
import { Explorer } from "./explorer.js";
import { KeyList, meant } from "./keys.js";
import { MoveList } from "./movelist.js";
import { Picker } from "./picker.js";
import { Players } from "./players.js";
import { Plot } from "./plot.js";
import { showRules } from "./rules.js";
import { sound } from "./sound.js";

const STEP_MS = 700;
const SPEEDS = [0.5, 1, 2, 4, 8];

export class Viewer {
  // link(ply) is the address of a ply; `went(ply)` is told where the reader goes, null for the newest.
  // A person who plays and does not see the board hears each move: `speak`.
  constructor(match, { link, went = /** @type {(ply: number | null) => void} */ (() => null), live = false, speak = false }) {
    this.match = match;
    this.went = went;
    this.live = live;
    this.message = ""; // what is said in the place of the match's state
    this.alarm = false;
    this.due = undefined;
    this.marked = "";
    this.running = undefined;
    this.heard = NaN; // the ply that was shown last
    this.ply = null; // null follows the newest
    this.truth = null; // of each move, on a solved map
    this.board = makeBoard(match.game, (n) => this.spot(n));
    this.picker = new Picker(this.board);
    this.explorer = new Explorer(match, this.board, () => this.refresh());
    this.players = new Players(match);
    this.moves = new MoveList(match, link);
    this.plot = new Plot(match, (ply) => this.go(ply));
    this.speak = speak;
    this.status = h("p", { class: "status", role: speak ? "status" : null });
    // Bots may play a hundred plies a second: of their match only its end, and what goes wrong, is said aloud.
    this.aloud = speak ? null : h("p", { class: "unseen", role: "status" });
    this.told = h("p", { class: "told", role: speak ? "status" : null });
    this.words = h("ul", null);
    this.slider = h("input", { type: "range", min: 0, list: "turns", "aria-label": "Ply", oninput: () => this.go(Number(this.slider.value)) });
    this.actions = h("div", { class: "actions" });
    this.choices = h("div", { class: "actions choices" }); // moves that no cell stands for
    this.keys = new KeyList();
    this.speed = h("select", { class: "speed", "aria-label": "Speed", title: "Speed", onchange: () => this.restart() },
      SPEEDS.map((each) => h("option", { value: each, selected: each === 1 }, `${each === 0.5 ? "½" : each}×`)));
    this.turns = h("datalist", { id: "turns" });
    this.alone = h("button", { type: "button", "aria-label": "Full screen", title: "Full screen (F)", onclick: () => this.toggleAlone() },
      svg("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4" })));
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
      this.newest, this.slider, this.turns, this.speed,
      document.fullscreenEnabled ? this.alone : null,
      step("Keys", "?", () => this.keys.toggle()), this.keys.element);
    const name = [GAME_NAMES[match.gameName] ?? match.gameName, match.setup.map, match.control, match.event].filter(Boolean).join(" · ");
    return h("div", { class: "viewer" },
      h("div", { class: "title" }, h("h1", { class: "quiet" }, name),
        h("button", { type: "button", class: "small", onclick: () => showRules(match.gameName, match.setup) }, "Rules and words"),
        this.status, this.aloud, this.actions),
      this.players.element,
      h("div", { class: "table-top" },
        h("div", { class: "board", ...(match.game instanceof Declared && { tabindex: 0, role: "region", "aria-label": "Board" }) }, this.board.element),
        this.choices, this.told, controls, this.explorer.element),
      h("aside", { class: "side", "aria-label": "Moves and values" }, this.plot.element, this.moves.element,
        h("details", null, h("summary", null, "The position in words"), this.words)));
  }

  // Say something in the place of the match's state; with `alarm` it is bad news.
  tell(message, alarm = false) {
    this.message = message;
    this.alarm = alarm;
    this.refreshSoon();
  }

  get at() {
    return this.ply ?? this.match.moves.length;
  }

  spot(n) {
    if (this.explorer.active) this.explorer.picker.spot(n);
    else if (this.ply === null) this.picker.spot(n);
  }

  // Show a ply; null, and the newest of a live match, follow the match.
  go(ply) {
    this.explorer.stop();
    const last = this.match.moves.length;
    const to = ply === null ? null : Math.max(0, Math.min(last, ply));
    this.ply = to === last && this.live && !this.match.end ? null : to;
    this.refresh();
    this.went(this.ply);
  }

  // The match has changed: show it with the next picture. Bots may play a hundred plies a second, and
  // a page that nobody looks at need not be drawn.
  refreshSoon() {
    // Armies arrive before the answer to them is drawn.
    this.board.whenStill(() => {
      this.due ??= requestAnimationFrame(() => this.refresh());
    });
  }

  // Show the ply that is to be shown.
  refresh() {
    cancelAnimationFrame(this.due);
    this.due = undefined;
    const { match, at } = this;
    const before = at ? match.positions[at - 1] : null;
    const move = at ? match.moves[at - 1].move : null;
    const { explorer } = this;
    if (explorer.active) this.board.show(...explorer.scene);
    else this.board.show(match.positions[at], move, before);
    explorer.show(at, this.speak && !match.end);
    this.players.show(at);
    this.moves.show(at);
    this.plot.show(at);
    set(this.slider, { max: match.moves.length, "aria-valuetext": `ply ${at} of ${match.moves.length}` });
    this.slider.value = String(at);
    this.markTurns();
    say(this.told, explorer.active ? explorer.describe() : `${this.describe(at, move, before)}${this.judged(at)}`);
    say(this.status, this.state());
    if (this.aloud) say(this.aloud, this.live ? this.message || (match.end ? result(match.end, match.players) : "") : "");
    this.sound(at, move, before);
    set(this.status, { "data-alarm": this.alarm });
    this.words.replaceChildren(...this.board.inWords(match.positions[at]).map((each) => h("li", null, each)));
    // Who looks back looks: what may be chosen is chosen in the newest position.
    if (explorer.active) explorer.picker.mark();
    else if (!this.picker.chosen || this.ply !== null) this.board.mark(null);
    else this.picker.mark();
  }

  // A sound for one ply on; not for a jump, and not for what is shown again.
  sound(at, move, before) {
    const stepped = at === this.heard + 1;
    this.heard = at;
    if (!stepped) return;
    const { match } = this;
    const told = match.game.told?.(before, move);
    sound(match.end && at === match.moves.length ? "over" : told && (told.what === "won" || told.what === "lost") ? "fight" : "quiet");
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
      won: `${told.came} against ${told.stood}: taken with ${told.came - told.stood} left, then all train`,
      lost: `${told.came} against ${told.stood}: held with ${told.stood - told.came} left, then all train`,
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

  // The slider has a mark where the match turned.
  markTurns() {
    const plies = this.plot.turns.map((each) => each.ply).join();
    if (plies === this.marked) return;
    this.marked = plies;
    this.turns.replaceChildren(...this.plot.turns.map((each) => h("option", { value: each.ply })));
  }

  key(event) {
    const act = meant(event, {
      back: () => this.go(this.at - 1),
      on: () => this.go(this.at + 1),
      start: () => this.go(0),
      end: () => this.go(null),
      run: () => this.run(),
      keys: () => this.keys.toggle(),
      faster: () => this.hurry(1),
      slower: () => this.hurry(-1),
      alone: () => this.toggleAlone(),
    });
    if (!act || (this.keys.element.open && event.key !== "?")) return;
    event.preventDefault();
    act();
  }

  hurry(by) {
    this.speed.selectedIndex = Math.max(0, Math.min(SPEEDS.length - 1, this.speed.selectedIndex + by));
    this.restart();
  }

  toggleAlone() {
    if (document.fullscreenElement) document.exitFullscreen();
    else if (document.fullscreenEnabled) this.element.requestFullscreen();
  }

  run() {
    if (this.running) {
      this.halt();
      return;
    }
    if (this.at >= this.match.moves.length) this.go(0);
    say(this.runButton, "❚❚");
    this.running = setInterval(() => {
      this.go(this.at + 1);
      if (this.at >= this.match.moves.length) this.halt();
    }, STEP_MS / Number(this.speed.value));
  }

  // Go on at the speed that was chosen.
  restart() {
    if (!this.running) return;
    this.halt();
    this.run();
  }

  halt() {
    clearInterval(this.running);
    this.running = undefined;
    say(this.runButton, "▶");
  }

  stop() {
    this.halt();
    cancelAnimationFrame(this.due);
    this.players.stop();
    document.removeEventListener("keydown", this.onKey);
  }
}
