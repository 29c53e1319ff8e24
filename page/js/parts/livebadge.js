// Badge that says whether a board shows a live match, its end or a replay, and whether it is delayed. Its button then goes to the newest move.

import { h, say, set } from "../dom.js";
import { plural } from "../text.js";

const FAR_BEHIND = 20; // moves from which on it helps to know: fewer are watched at a pace that one can follow

export class LiveBadge {
  // jump() goes to the newest move; null for a badge without a button. `replays`: a replay has the badge, too.
  constructor(jump = /** @type {(() => void) | null} */ (null), { replays = false } = {}) {
    this.replays = replays;
    this.state = h("span", null);
    this.jump = jump && h("button", { type: "button", class: "small", hidden: true, onclick: jump }, "Go to live");
    this.element = h("span", { class: "badge", hidden: true }, this.state, this.jump);
  }

  // Show the state of a playback whose board shows the ply `at`.
  show(playback, at = playback.at) {
    const { behind: moves } = playback;
    const state = stateOf(playback, at);
    set(this.element, { "data-state": state, hidden: state === "replay" && !this.replays, title: moves > 0 ? `${plural(moves, "move")} behind the match` : null });
    if (this.jump) set(this.jump, { hidden: !moves || (state !== "delayed" && state !== "paused") });
    say(this.state, { live: "Live", delayed: "Delayed", paused: "Paused", over: "Final", replay: "Replay" }[state]);
  }
}

// A live match that was seen to its end is a replay for who goes back. While the armies of its last move travel, it is live.
function stateOf({ live, running, end, isOver, match, behind }, at) {
  if (!live) return "replay";
  if (end && match.endsAt(at)) return "over";
  if (end) return isOver ? "live" : "replay";
  if (!running) return "paused";
  return behind < FAR_BEHIND ? "live" : "delayed";
}
