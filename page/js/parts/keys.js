// Keyboard shortcuts of a match, and a list of them.

import { h } from "../dom.js";

const KEYS = [
  ["← →", "previous move, next move"],
  ["Home, End", "start, end"],
  ["Space", "play, pause"],
  ["− +", "slower, faster"],
  ["F", "full screen on, off"],
  ["Tab, Enter", "next choice, choose it"],
  ["Esc", "cancel the premove"],
  ["?", "this list"],
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
