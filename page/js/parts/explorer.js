// What could have been: moves of the reader's own from any ply, and what an engine of the house thinks of a position.

import { ask, askOnce } from "../api.js";
import { h, say, set } from "../dom.js";
import { Declared } from "../games/declared.js";
import { SEAT_NAMES } from "../text.js";
import { Picker } from "./picker.js";
import { word } from "./rules.js";
import { odds, told } from "./worth.js";

export class Explorer {
  // shown() is told when something else is to be seen.
  constructor(match, board, shown) {
    this.match = match;
    this.shown = shown;
    this.picker = new Picker(board);
    this.steps = []; // { move, position } beyond the ply `from`
    this.from = null; // null: the match itself is looked at
    this.advised = []; // moves of the engine's line that were not followed yet
    const button = (text, act) => h("button", { type: "button", class: "small", onclick: act }, text);
    this.begin = button("Try moves", () => this.start(this.ply));
    this.undo = button("Take back", () => this.back());
    this.leave = button("Back to the match", () => this.stop());
    this.asking = button("Ask the engine", () => this.ask());
    this.follow = button("Follow its line", () => this.next());
    this.told = h("span", { role: "status" });
    this.element = h("div", { class: "explorer" }, this.begin, this.undo, this.leave, this.asking, this.follow, this.told);
    this.ply = 0;
    this.playing = false;
    if (match.game.names && match.setup.map && !match.setup.map.includes(":")) {
      askOnce("about").then(({ guests, maps }) => {
        this.engine = guests && maps.includes(match.setup.map);
        this.show(this.ply);
      }, () => null); // what else is on the page says that the server does not answer
    }
    this.show(0);
  }

  get active() {
    return this.from !== null;
  }

  get position() {
    return this.steps.length ? this.steps[this.steps.length - 1].position : this.match.positions[this.from];
  }

  // The position that is seen with the move that led to it and where that was played, as a board shows them.
  get scene() {
    const { steps, match, from } = this;
    const last = steps[steps.length - 1];
    const before = steps.length > 1 ? steps[steps.length - 2].position : match.positions[from];
    return last ? [last.position, last.move, before] : [match.positions[from], from ? match.moves[from - 1].move : null, from ? match.positions[from - 1] : null];
  }

  // Where the reader is in the match by now; nobody may explore while playing it.
  show(ply, playing = this.playing) {
    if (ply !== this.ply && !this.active) this.forget();
    this.ply = ply;
    this.playing = playing;
    const known = !(this.match.game instanceof Declared);
    set(this.element, { hidden: playing || !known });
    set(this.begin, { hidden: this.active });
    set(this.undo, { hidden: !this.active, disabled: !this.steps.length });
    set(this.leave, { hidden: !this.active });
    set(this.asking, { hidden: !this.engine });
    set(this.follow, { hidden: !this.advised.length });
  }

  start(ply) {
    this.from = ply;
    this.steps = [];
    this.changed();
  }

  // The match itself is looked at again.
  stop() {
    if (!this.active) return;
    this.from = null;
    this.steps = [];
    this.forget();
    this.picker.stop();
    this.shown();
  }

  forget() {
    this.advised = [];
    say(this.told, "");
  }

  changed() {
    const { position } = this;
    this.picker.ask(this.match.game.moves(position), (move) => this.play(move));
    this.shown();
  }

  play(move) {
    this.advised = String(this.advised[0]) === String(move) ? this.advised.slice(1) : [];
    this.steps.push({ move, position: this.match.game.play(this.position, move) });
    this.changed();
  }

  back() {
    this.steps.pop();
    this.advised = [];
    this.changed();
  }

  // One move more of the engine's line.
  next() {
    if (!this.active) this.start(this.ply);
    this.play(this.advised[0]);
  }

  async ask() {
    const { match } = this;
    const position = this.active ? this.position : match.positions[this.ply];
    set(this.asking, { disabled: true });
    say(this.told, "The engine thinks …");
    try {
      const found = await ask(`advice/${encodeURIComponent(match.setup.map)}?position=${encodeURIComponent(written(position))}`);
      if (position !== (this.active ? this.position : match.positions[this.ply])) return;
      this.advised = read(match.game, position, found.line);
      this.told.replaceChildren(...this.words(found));
    } catch (error) {
      say(this.told, error.message);
    } finally {
      set(this.asking, { disabled: false });
      this.show(this.ply);
    }
  }

  words({ engine, depth, value: said, truth }) {
    const { game, setup } = this.match;
    const line = this.advised.map((move) => game.text(move)).join(", ");
    const odd = odds(said, setup);
    return [`${engine}, ${depth} plies: `, word("value"), ` ${told(said)}${odd ? ` (${odd})` : ""}${line ? `: ${line}` : ""}${known(truth)}`];
  }

  describe() {
    const last = this.steps[this.steps.length - 1];
    if (!last) return `Your own moves from ply ${this.from}: ${SEAT_NAMES[this.position.player]} to move`;
    return `Your own line, ply ${this.from + this.steps.length}: ${this.match.game.text(last.move)}`;
  }
}

// What the table of a solved map says.
const known = (truth) => (truth ? `. By the table of the map, a ${truth.value} for the player to move; ${truth.moves.map(([move, worth]) => `${move}: ${worth}`).join(", ")}` : "");

// A position of Riskless as the server reads it.
const written = ({ armies, player, ply }) => `${armies.map((n) => (n ? `${n > 0 ? "+" : ""}${n}` : ".")).join(" ")} ${player} ${ply}`;

// The moves of a line that the server has written, as far as they are legal.
function read(game, position, line) {
  const found = [];
  let at = position;
  for (const text of line) {
    const move = game.moves(at).find(([source, target]) => {
      const names = [game.names[source], game.names[target]];
      return text === names.join(" > ") || text === names.join(" ");
    });
    if (!move) break;
    found.push(move);
    at = game.play(at, move);
  }
  return found;
}
