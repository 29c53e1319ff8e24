// Badge that says whether a board shows the newest move of a live match, an earlier one, or its end. With a button that catches up.

import { h, say, set } from "../dom.js";
import { plural } from "../text.js";

const ON_THEIR_WAY = 2; // moves that are just being drawn, one of each player

export class LiveBadge {
  constructor(jump) {
    this.state = h("span", { class: "state-of" });
    this.far = h("span", { class: "far-of" });
    this.element = h("span", { class: "badge", hidden: true }, h("span", null, this.state, this.far));
    this.jump = h("button", { type: "button", class: "small", hidden: true, onclick: jump }, "Jump to live");
  }

  // Show the state of a playback; nothing for a replay.
  show(playback) {
    const state = stateOf(playback);
    const isBehind = state === "delayed" || state === "paused";
    set(this.element, { "data-state": state, hidden: state === "replay" });
    set(this.jump, { hidden: !isBehind });
    say(this.state, { live: "Live", delayed: "Live, ", paused: "Paused, ", over: "Final", replay: "" }[state]);
    say(this.far, isBehind ? `${plural(playback.behind, "move")} behind` : "");
  }
}

// A live match that was seen to its end is a replay for who goes back.
function stateOf({ live, behind, running, end, isOver }) {
  if (!live) return "replay";
  if (end) return isOver ? "over" : "replay";
  if (behind <= ON_THEIR_WAY) return "live";
  return running ? "delayed" : "paused";
}
