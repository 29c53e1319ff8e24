// A record file of the reader's own, match by match.

import { rename, to } from "../address.js";
import { h, say } from "../dom.js";
import { Match } from "../match.js";
import { opened, openFile } from "../parts/dropped.js";
import { Viewer } from "../parts/viewer.js";
import { plural, plyOf } from "../text.js";

const LISTED = 500;

export class FileView {
  constructor(main, [ply]) {
    const file = opened();
    this.main = main;
    this.viewer = /** @type {any} */ (null);
    this.fault = h("p", { class: "fault", role: "alert" });
    this.input = h("input", { type: "file", accept: ".jsonl,.json", onchange: () => this.open() });
    this.place = h("div");
    main.replaceChildren(
      h("h1", null, file ? file.name : "A record file"),
      h("p", null, h("label", null, "A file of arena ladder, arena match or a download: ", this.input)),
      this.fault, this.place);
    if (file?.fault) say(this.fault, file.fault);
    else if (file) this.offer(plyOf(ply));
  }

  async open() {
    if (this.input.files.length) await openFile(this.input.files[0]);
  }

  offer(ply) {
    const { lines } = opened();
    if (lines.length === 1) {
      this.show(0, ply);
      return;
    }
    const select = h("select", { onchange: () => this.show(Number(select.value), null) },
      lines.slice(0, LISTED).map((line, n) => h("option", { value: n }, this.title(line, n))));
    this.place.before(h("p", null, h("label", null, `${plural(lines.length, "match", "matches")}: `, select)));
    this.show(0, ply);
  }

  title(line, n) {
    try {
      const { players, result } = JSON.parse(line);
      return `${n + 1}. ${players.maxie} v ${players.minnie}: ${result.winner ?? "draw"}`;
    } catch {
      return `${n + 1}. no record`;
    }
  }

  show(n, ply) {
    const { name, lines } = opened();
    this.viewer?.stop();
    this.viewer = null;
    try {
      const match = Match.fromRecord(JSON.parse(lines[n] ?? ""));
      this.viewer = new Viewer(match, {
        link: (at) => to("file", at),
        went: (at) => rename(to("file", at)),
      });
      this.place.replaceChildren(this.viewer.element);
      this.viewer.go(ply);
      say(this.fault, "");
    } catch (error) {
      this.place.replaceChildren();
      say(this.fault, `${name}, line ${n + 1}: ${error instanceof SyntaxError ? "this is not JSON" : error.message}`);
    }
  }

  go(ply) {
    this.viewer?.go(plyOf(ply));
  }

  stop() {
    this.viewer?.stop();
  }
}
