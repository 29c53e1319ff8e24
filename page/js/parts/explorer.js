// Exploration: the reader's own moves from any ply, and a house engine's best moves.

import { fetchJson } from "../api.js";
import { chanceIn, percentages } from "../chances.js";
import { h, say, set } from "../dom.js";
import { Declared } from "../games/declared.js";
import { SIDES } from "../text.js";
import { engineFor, read, written } from "./engine.js";
import { Picker } from "./picker.js";
import { word } from "./rules.js";
import { winChances, valueText } from "./values.js";

export class Explorer {
  // shown() is called when another position is to be shown. `review`: the engine's review of the match.
  constructor(match, board, shown, review) {
    this.match = match;
    this.review = review;
    this.shown = shown;
    this.picker = new Picker(board);
    this.steps = []; // { move, position } beyond the ply `from`
    this.from = null; // null: the match itself is shown
    this.advised = []; // moves of the engine's line that were not played yet
    this.thinking = false;
    const button = (text, act) => h("button", { type: "button", onclick: act }, text);
    this.begin = button("Try your own moves", () => this.start(this.review.shownPly(this.ply)));
    this.undo = button("Take back", () => this.back());
    this.leave = set(button("Back to the match", () => this.stop()), { class: "small" });
    this.best = h("button", { type: "button", class: "button play-out", onclick: () => this.playBest() });
    this.told = h("p", { role: "status" });
    this.reasons = h("p", null);
    this.details = h("details", { hidden: true }, h("summary", null, "Details"), this.reasons);
    this.name = h("h2");
    this.head = h("div", { class: "line-head", hidden: true }, this.name, this.leave);
    this.element = h("div", { class: "explorer" }, this.head, this.told, this.details);
    this.ply = 0;
    this.playing = false;
    engineFor(match).then((found) => {
      this.engine = found;
      this.show(this.ply);
    });
    this.show(0);
  }

  get active() {
    return this.from !== null;
  }

  get position() {
    return this.steps.length ? this.steps[this.steps.length - 1].position : this.match.positions[this.from];
  }

  // Return the reader's own moves, as { ply, move, seat, share, chances }: the ply to which each leads, Maxie's chance after it, and the mover's before and after it in words.
  get tried() {
    const { match, from, steps } = this;
    if (from === null) return [];
    const shares = [match.positions[from], ...steps.map(({ position }) => position)].map((each) => chanceIn(match, from, each));
    return steps.map(({ move }, n) => {
      const seat = (n ? steps[n - 1].position : match.positions[from]).player;
      const [before, after] = shares.slice(n, n + 2).map((share) => (share === null ? "" : percentages(share)[seat]));
      return { ply: from + n + 1, move, seat, share: shares[n + 1], chances: shares[n + 1] === null ? "" : `${before} → ${after}\u00a0%` };
    });
  }

  // Return the shown position with its last move and that move's position, as a board draws them.
  get scene() {
    const { steps, match, from } = this;
    const last = steps[steps.length - 1];
    const before = steps.length > 1 ? steps[steps.length - 2].position : match.positions[from];
    return last ? [last.position, last.move, before] : [match.positions[from], from ? match.moves[from - 1].move : null, from ? match.positions[from - 1] : null];
  }

  // Set the reader's ply in the match; nobody may explore during their own match.
  show(ply, playing = this.playing) {
    if (ply !== this.ply && !this.active) this.forget();
    this.ply = ply;
    this.playing = playing;
    const known = !(this.match.game instanceof Declared);
    set(this.element, { hidden: playing || !known });
    set(this.begin, { hidden: playing || !known || this.active });
    const { suggested } = this;
    const asks = this.active && this.engine && this.match.game.moves(this.position).length > 0;
    set(this.best, { hidden: suggested === undefined && !asks, disabled: this.thinking });
    say(this.best, suggested === undefined ? "Find the best move" : this.active ? `Play out ${this.match.game.text(suggested)}` : "Play out"); // the review names the move
    set(this.undo, { hidden: !this.active, disabled: !this.steps.length });
    set(this.head, { hidden: !this.active });
    say(this.name, this.active ? `Your line from move ${this.from}` : "");
  }

  // Return the move that the engine would play in the position shown, or instead of the last move of the match; undefined if it
  // was not asked, or knows no better one.
  get suggested() {
    return this.line[0];
  }

  // Return the engine's line of moves from that position; empty without one.
  get line() {
    return this.active ? this.advised : this.review.better(this.ply);
  }

  start(ply) {
    this.from = ply;
    this.steps = [];
    this.changed();
  }

  // Return to the match itself.
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
    this.tell("");
  }

  // Say something in the place of the engine's answer.
  tell(words) {
    say(this.told, words);
    set(this.details, { hidden: true });
  }

  changed() {
    const { position } = this;
    this.picker.ask(this.match.game.moves(position), (move) => this.play(move));
    this.shown();
  }

  // Try a move from the position that is shown.
  tryMove(move) {
    if (!this.active) this.start(this.review.shownPly(this.ply));
    this.picker.stop();
    this.play(move);
  }

  play(move) {
    this.advised = String(this.advised[0]) === String(move) ? this.advised.slice(1) : [];
    this.tell("");
    this.steps.push({ move, position: this.match.game.play(this.position, move) });
    this.changed();
  }

  back() {
    this.steps.pop();
    this.forget();
    this.changed();
  }

  // Play the engine's move, with its line to follow, or ask for it.
  playBest() {
    const { line } = this;
    if (!line.length) {
      this.ask();
      return;
    }
    if (!this.active) {
      this.start(this.ply - 1);
      this.advised = line;
    }
    this.tryMove(line[0]);
  }

  async ask() {
    const { match, position } = this;
    this.thinking = true;
    this.tell("Thinking…");
    this.shown();
    try {
      const found = await fetchJson(`advice/${encodeURIComponent(match.setup.map)}?position=${encodeURIComponent(written(position))}`);
      if (!this.active || position !== this.position) return;
      this.advised = read(match.game, position, found.line);
      this.tell(this.answer(found));
      this.reasons.replaceChildren(...this.words(found, position));
      set(this.details, { hidden: false });
    } catch (error) {
      this.tell(error.message);
    } finally {
      this.thinking = false;
      this.shown();
    }
  }

  // Return the chance of winning with the best move, which the button above names.
  answer({ value: said }) {
    const odds = winChances(said, this.match.setup) || valueText(said);
    return this.advised.length ? `Best move: ${odds}` : odds;
  }

  // Return how the engine came to its answer.
  words({ engine, depth, value: said, lines, truth }, position) {
    const { game } = this.match;
    const line = this.advised.map((move) => game.text(move)).join(", ");
    const others = lines.slice(1).map((each) => {
      const [move] = read(game, position, each.line);
      return `${game.text(move)} ${this.worth(each.value)}`;
    });
    const next = others.length ? `. Next best: ${others.join("; ")}` : "";
    return [`${engine}, ${depth} moves ahead: `, word("value"), ` ${this.worth(said)}${line ? `: ${line}` : ""}${next}${known(truth)}`];
  }

  // Return a value, and its chance of winning.
  worth(value) {
    const odd = winChances(value, this.match.setup);
    return `${valueText(value)}${odd ? ` (${odd})` : ""}`;
  }

  describe() {
    const last = this.steps[this.steps.length - 1];
    if (!last) return `Your own moves from move ${this.from}: ${SIDES[this.position.player]} to move`;
    return `Your own line, move ${this.from + this.steps.length}: ${this.match.game.text(last.move)}`;
  }
}

// Return the statement of a solved map's table.
const known = (truth) => (truth ? `. Solved: a ${truth.value} for the player to move; ${truth.moves.map(([move, worth]) => `${move}: ${worth}`).join(", ")}` : "");
