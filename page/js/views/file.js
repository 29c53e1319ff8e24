// A record file of the reader's own, match by match.

import { replaceAddress, addressOf } from "../router.js";
import { h, say } from "../dom.js";
import { Match } from "../match.js";
import { loneCard } from "../parts/cards.js";
import { openedFile, openFile } from "../parts/recordfiles.js";
import { Viewer } from "../parts/viewer.js";
import { SIDES, botTitle, plural, plyOf } from "../text.js";

const LISTED = 500;

export class FileView {
  constructor(main, [ply]) {
    const file = openedFile();
    this.main = main;
    this.viewer = /** @type {any} */ (null);
    this.fault = h("p", { class: "fault", role: "alert" });
    this.input = h("input", { type: "file", class: "unseen", accept: ".jsonl,.json", onchange: () => this.open() });
    this.place = h("div");
    this.title = h("h1", null, file?.name);
    this.fileName = h("span", { class: "quiet file-name" });
    if (file) main.replaceChildren(h("div", { class: "heading" }, this.title, this.fileName, h("label", { class: "another-file" }, "Open another file", this.input)), this.fault, this.place);
    else main.replaceChildren(h("h1", null, "Record file"), this.drop());
    if (file?.fault) say(this.fault, file.fault);
    else if (file) this.offer(plyOf(ply));
  }

  // The place of a file before one is chosen.
  drop() {
    return loneCard(h("div", { class: "drop" }, h("p", null, "Replay and analyse matches from a .jsonl file of ", h("code", null, "arena ladder"), ", ", h("code", null, "arena match"), " or a download."),
      h("label", { class: "button big" }, "Choose a file", this.input),
      h("p", { class: "quiet" }, "You can also drop it anywhere on this page. It stays in your browser.")),
    h("section", { class: "briefing" }, h("h2", null, "What you can do with it"), h("ul", null,
      h("li", null, "replay a match move by move, with the chance of winning after each"), h("li", null, "let an engine mark the mistakes and show better moves"),
      h("li", null, "try your own moves from any position"))));
  }

  async open() {
    if (this.input.files.length) await openFile(this.input.files[0]);
  }

  offer(ply) {
    const { name, lines } = openedFile();
    if (!lines.length) {
      say(this.fault, `${name} is empty`);
      return;
    }
    if (lines.length === 1 || !isRecord(lines[0])) {
      this.show(0, ply);
      return;
    }
    const select = h("select", { onchange: () => this.show(Number(select.value), null) },
      lines.slice(0, LISTED).map((line, n) => h("option", { value: n }, this.entry(line, n))));
    this.place.before(h("p", null, h("label", null, `${plural(lines.length, "match", "matches")}: `, select)));
    this.show(0, ply);
  }

  // Return a list entry: the players and the winner.
  entry(line, n) {
    try {
      const { players, result } = JSON.parse(line);
      return `${n + 1}. ${botTitle(players.maxie)} v ${botTitle(players.minnie)}: ${result.winner ? `${SIDES[result.winner]} won` : "draw"}`;
    } catch {
      return `${n + 1}. not a record`;
    }
  }

  show(n, ply) {
    const { name, lines } = openedFile();
    this.viewer?.stop();
    this.viewer = null;
    say(this.title, name);
    say(this.fileName, "");
    try {
      const match = Match.fromRecord(JSON.parse(lines[n] ?? ""));
      this.viewer = new Viewer(match, {
        reviewed: "moves",
        link: (at) => addressOf("file", at),
        went: (at) => replaceAddress(addressOf("file", at)),
      });
      say(this.title, `${match.players.maxie} v ${match.players.minnie}`);
      say(this.fileName, name);
      this.place.replaceChildren(this.viewer.element);
      this.viewer.begin(ply);
      say(this.fault, "");
    } catch (error) {
      this.place.replaceChildren();
      say(this.fault, `${name}, line ${n + 1}: ${error instanceof SyntaxError ? "this is not JSON" : error.message}`);
    }
  }

  go(ply) {
    const at = plyOf(ply);
    if (at !== null) this.viewer?.go(at);
  }

  stop() {
    this.viewer?.stop();
  }
}

// Return true if the first line of a file is a record. A picture or a text also has lines, but contains no matches.
function isRecord(line) {
  try {
    return JSON.parse(line)?.format === "arena-record/1";
  } catch {
    return false;
  }
}
