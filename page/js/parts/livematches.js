// Matches whose newest position a view needs, for as long as it needs it.

import { Match } from "../match.js";
import { watch, requestView } from "../spectator.js";
import { Follower } from "./follow.js";

const GLANCE_MS = 1000;

const glances = new Map();

// Follow a live match: changed(match) is called after each change, gone() when the server no longer has it.
// Returns a function that stops it.
export function followLive(id, changed, gone) {
  const follower = new Follower((match) => changed(match), () => requestView(id));
  return watch(id, (message) => (message.type === "error" ? gone() : follower.take(message)));
}

// Resolve to the state of a live match; to null if the server no longer has it, or does not answer within a second.
export function glance(id) {
  if (!glances.has(id)) {
    glances.set(id, new Promise((resolve) => {
      const seen = (match) => {
        clearTimeout(waiting);
        unwatch();
        glances.delete(id);
        resolve(match);
      };
      const waiting = setTimeout(() => seen(null), GLANCE_MS);
      const unwatch = watch(id, (message) => {
        if (message.type === "view") seen(Match.fromView(message));
        else if (message.type === "error") seen(null);
      });
    }));
  }
  return glances.get(id);
}
