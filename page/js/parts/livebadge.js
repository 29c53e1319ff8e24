// Badge that says whether a board shows the newest move of a live match, an earlier one, or its end. Its button catches up.

import { h, say, set } from "../dom.js";
import { plural } from "../text.js";

const ON_THEIR_WAY = 4; // moves that are just being drawn, at the usual pace

export class LiveBadge {
  constructor(jump) {
    this.state = h("span", null);
    this.jump = h("button", { type: "button", class: "bare small", title: "Go on with the newest move", hidden: true, onclick: jump }, "Catch up");
    this.element = h("span", { class: "badge", hidden: true }, this.state, this.jump);
  }

  // Show the state of a playback; nothing for a replay.
  show(playback) {
    const state = stateOf(playback);
    const behind = `${plural(playback.behind, "move")} behind`;
    set(this.element, { "data-state": state, hidden: state === "replay" });
    set(this.jump, { hidden: !playback.behind || (state !== "delayed" && state !== "paused") });
    say(this.state, { live: "Live", delayed: `${behind} live`, paused: playback.behind ? `Paused, ${behind}` : "Paused", over: "Final", replay: "" }[state]);
  }
}

// A live match that was seen to its end is a replay for who goes back.
function stateOf({ live, behind, running, end, isOver }) {
  if (!live) return "replay";
  if (end) return isOver ? "over" : "replay";
  if (!running) return "paused";
  return behind <= ON_THEIR_WAY ? "live" : "delayed";
}
