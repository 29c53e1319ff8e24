// Matches whose newest position a view shows, each as long as it is needed.

import { watch, requestView } from "../spectator.js";
import { Follower } from "./follow.js";

// Follow a live match: changed(match) is called after each change, gone() when the server no longer has it.
// Returns a function that stops it.
export function followLive(id, changed, gone) {
  const follower = new Follower((match) => changed(match), () => requestView(id));
  return watch(id, (message) => (message.type === "error" ? gone() : follower.take(message)));
}
