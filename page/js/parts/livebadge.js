// Badge that says whether a board shows a live match, or its end, and far behind its match how many moves. Its button then catches up.
// A badge without a button calls every move live but the last.

import { h, say, set } from "../dom.js";
import { plural } from "../text.js";

const FAR_BEHIND = 20; // moves from which on it helps to know: fewer are watched at a pace that one can follow

export class LiveBadge {
  // jump() catches up; null for a badge without a button.
  constructor(jump = /** @type {(() => void) | null} */ (null)) {
    this.paused = h("span", { class: "unseen" }); // to the eye two bars tell it
    this.state = h("span", null);
    this.jump = jump && h("button", { type: "button", class: "small", title: "Go on with the newest move", hidden: true, onclick: jump }, "Catch up");
    this.element = h("span", { class: "badge", hidden: true }, this.paused, this.state, this.jump);
  }

  // Show the state of a playback; nothing for a replay.
  show(playback) {
    const moves = this.jump ? playback.behind : 0;
    const state = stateOf(playback, moves);
    const behind = `${plural(moves, "move")} behind`;
    set(this.element, { "data-state": state, hidden: state === "replay" });
    if (this.jump) set(this.jump, { hidden: !moves || (state !== "delayed" && state !== "paused") });
    say(this.paused, state === "paused" && moves ? "Paused, " : "");
    say(this.state, { live: "Live", delayed: `${behind} live`, paused: moves ? behind : "Paused", over: "Final", replay: "" }[state]);
  }
}

// A live match that was seen to its end is a replay for who goes back. `behind`: number of moves that count.
function stateOf({ live, running, end, isOver }, behind) {
  if (!live) return "replay";
  if (end) return isOver ? "over" : "replay";
  if (!running) return "paused";
  return behind < FAR_BEHIND ? "live" : "delayed";
}
