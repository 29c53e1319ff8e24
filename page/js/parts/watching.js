// Matches of which a view shows the newest position, each as long as it is wanted.

import { watch, watchAgain } from "../spectator.js";
import { Follower } from "./follow.js";

// Follow a live match: changed(match) is told of each change, gone() where the server does not have it any more.
// Returns how to stop.
export function followLive(id, changed, gone) {
  const follower = new Follower((match) => changed(match), () => watchAgain(id));
  return watch(id, (message) => (message.type === "error" ? gone() : follower.take(message)));
}
