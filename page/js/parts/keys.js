// Keyboard shortcuts of a match, and a list of them.

import { h } from "../dom.js";

const KEYS = [
  ["← →", "one move back, one on"],
  ["Home, End", "the start, the end"],
  ["Space", "play the moves, or stop"],
  ["− +", "slower, faster"],
  ["F", "the board alone on the screen, or all again"],
  ["Tab, Enter", "go through what may be chosen, and choose"],
  ["Esc", "cancel the move chosen ahead"],
  ["?", "these keys"],
];

export class KeyList {
  constructor() {
    this.element = h("dialog", { class: "keys", "aria-label": "Keys" },
      h("h2", null, "Keys"),
      h("dl", null, KEYS.flatMap(([keys, what]) => [h("dt", null, h("kbd", null, keys)), h("dd", null, what)])),
      h("form", { method: "dialog" }, h("button", { type: "submit" }, "Close")));
    this.element.addEventListener("click", (event) => event.target === this.element && this.element.close());
  }

  toggle() {
    if (this.element.open) this.element.close();
    else this.element.showModal();
  }
}

// Return the function of `does` for a key press; null if the key is meant for another element.
export function keyAction(event, does) {
  if (event.altKey || event.ctrlKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return null;
  if (event.key === " " && event.target.closest("button, a, summary, [role=button]")) return null;
  const name = {
    ArrowLeft: "back", ArrowRight: "on", Home: "start", End: "end", " ": "run", "?": "keys", "+": "faster", "-": "slower", f: "alone",
  }[event.key];
  return name ? does[name] ?? null : null;
}
