// Keyboard shortcuts of a match, and a list of them.

import { h } from "../dom.js";
import { openDialog } from "./dialog.js";

const KEYS = [
  ["← →", "previous move, next move"],
  ["Home, End", "start, end"],
  ["Space", "play, pause"],
  ["− +", "slower, faster"],
  ["F", "full screen on, off"],
  ["Tab, Enter", "next choice, choose it"],
  ["Esc", "cancel the choice or the premove"],
  ["?", "this list"],
];

export class KeyList {
  constructor() {
    this.dialog = /** @type {HTMLDialogElement | null} */ (null);
  }

  get isOpen() {
    return Boolean(this.dialog?.open);
  }

  toggle() {
    if (this.isOpen) this.dialog?.close();
    else this.dialog = openDialog("keys", "Keys", h("dl", null, KEYS.flatMap(([keys, what]) => [h("dt", null, h("kbd", null, keys)), h("dd", null, what)])));
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
