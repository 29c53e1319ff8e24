// What the board shows of a live match: its newest move, an earlier one, or its end. With a button that catches up.

import { h, say, set } from "../dom.js";
import { plural } from "../text.js";

export class LiveBadge {
  constructor(jump) {
    this.element = h("span", { class: "badge", hidden: true });
    this.jump = h("button", { type: "button", class: "small", hidden: true, onclick: jump }, "Jump to live");
  }

  // Show the state of a playback; nothing for a replay.
  show(playback) {
    const state = stateOf(playback);
    set(this.element, { "data-state": state, hidden: state === "replay" });
    set(this.jump, { hidden: state !== "delayed" && state !== "paused" });
    say(this.element, { live: "Live", delayed: `Delayed, ${moves(playback)}`, paused: `Paused, ${moves(playback)}`, over: "Final", replay: "" }[state]);
  }
}

const moves = ({ behind }) => `${plural(behind, "move")} behind`;

// A live match that was seen to its end is a replay for who goes back. The move that is just being drawn is not behind.
function stateOf({ live, behind, running, end, isOver }) {
  if (!live) return "replay";
  if (end) return isOver ? "over" : "replay";
  if (behind < 2) return "live";
  return running ? "delayed" : "paused";
}
