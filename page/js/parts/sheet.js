// A sheet at the bottom of a phone: its first part is always in sight, and the rest is pulled up by a grip. On a larger window the
// style shows both parts in the page itself.

import { h, set } from "../dom.js";

const STATES = ["peek", "half", "full"];
const PULLED_PX = 24; // a shorter movement of the finger is a tap

export class Sheet {
  // changed() is called when `state` is another of "peek", "half" and "full".
  constructor(first, rest, changed) {
    this.changed = changed;
    this.state = STATES[0];
    this.pulled = false;
    this.grip = h("button", { type: "button", class: "grip", "aria-expanded": "false",
      onclick: () => this.tap(), onpointerdown: (event) => this.pull(event) }, "Moves and graph");
    this.element = h("div", { class: "sheet" }, this.grip, first, rest);
    this.element.addEventListener("keydown", (event) => event.key === "Escape" && this.show(STATES[0]));
  }

  show(state) {
    if (state === this.state) return;
    this.state = state;
    set(this.grip, { "aria-expanded": String(state !== STATES[0]) });
    this.element.scrollTop = 0;
    this.changed();
  }

  tap() {
    if (this.pulled) this.pulled = false;
    else this.show(this.state === STATES[0] ? STATES[1] : STATES[0]);
  }

  // Follow the finger, and go to the next height in its direction.
  pull(down) {
    const height = this.element.offsetHeight;
    let moved = 0;
    this.pulled = false;
    const move = ({ clientY }) => {
      moved = down.clientY - clientY;
      this.element.style.height = `${height + moved}px`;
    };
    const up = () => {
      this.grip.removeEventListener("pointermove", move);
      this.element.style.height = "";
      this.pulled = Math.abs(moved) > PULLED_PX;
      if (this.pulled) this.show(STATES[Math.max(0, Math.min(STATES.length - 1, STATES.indexOf(this.state) + Math.sign(moved)))]);
    };
    this.grip.setPointerCapture(down.pointerId);
    this.grip.addEventListener("pointermove", move);
    this.grip.addEventListener("lostpointercapture", up, { once: true });
  }
}
