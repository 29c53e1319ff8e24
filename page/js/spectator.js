// The page's one connection for watching: the listing, and the matches that are watched.

import { on } from "./dom.js";
import { compare, met, missed } from "./server.js";
import { Wire } from "./wire.js";

const QUIET_MS = 3000;

let wire = null;
let listing = null;
const listeners = new Set();
const watched = new Map();
const MOST_LIVE = 5000;
const live = new Set();

export function spectator() {
  if (wire) return wire;
  wire = new Wire(() => ({ name: "page", role: "spectator", program: "the page" }), QUIET_MS);
  let opened = false;
  wire.addEventListener("open", () => {
    met();
    if (opened) compare(); // it may be another server by now
    opened = true;
    if (listeners.size) wire.say("browse");
    for (const match of watched.keys()) wire.say("watch", { match });
  });
  on(wire, "listing", (detail) => {
    listing = detail;
    if (live.size > MOST_LIVE) live.clear();
    for (const { match } of detail.matches) live.add(match);
    for (const listener of listeners) listener(listing);
  });
  for (const type of ["lost", "failed", "silent"]) wire.addEventListener(type, missed);
  wire.addEventListener("heard", met);
  for (const type of ["view", "update", "thought", "end", "error"]) {
    on(wire, type, (detail) => watched.get(detail.match)?.forEach((tell) => tell(detail)));
  }
  return wire;
}

// Tell of each listing, the last known one first. Returns how to stop.
export function onListing(listener) {
  spectator();
  listeners.add(listener);
  if (listeners.size === 1) wire.say("browse");
  if (listing) listener(listing);
  return () => listeners.delete(listener);
}

// Has the match been in progress since the page was opened?
export const wasLive = (match) => live.has(match);

// Tell of view, update, thought, end and error of a match; several may. Returns how to stop.
export function watch(match, tell) {
  spectator();
  const tells = watched.get(match) ?? new Set();
  tells.add(tell);
  watched.set(match, tells);
  wire.say("watch", { match });
  return () => {
    if (!tells.delete(tell) || tells.size) return;
    watched.delete(match);
    wire.say("unwatch", { match });
  };
}

// Ask again for all of a match: a move of it was missed.
export const watchAgain = (match) => wire.say("watch", { match });
