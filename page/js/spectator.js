// The page's one connection for watching: the listing, and the matches that are watched.

import { on } from "./dom.js";
import { checkVersion, answered, noAnswer } from "./server.js";
import { Wire } from "./wire.js";

const QUIET_MS = 3000;

let wire = null;
let listing = null;
const listeners = new Set();
const watched = new Map();
const MAX_LIVE = 5000;
const live = new Set();

export function spectator() {
  if (wire) return wire;
  wire = new Wire(() => ({ name: "page", role: "spectator", program: "the page" }), QUIET_MS);
  let opened = false;
  wire.addEventListener("open", () => {
    answered();
    if (opened) checkVersion(); // it may be another version of the server now
    opened = true;
    if (listeners.size) wire.say("browse");
    for (const match of watched.keys()) wire.say("watch", { match });
  });
  on(wire, "listing", (detail) => {
    listing = detail;
    if (live.size > MAX_LIVE) live.clear();
    for (const { match } of detail.matches) live.add(match);
    for (const listener of listeners) listener(listing);
  });
  for (const type of ["lost", "failed", "silent"]) wire.addEventListener(type, noAnswer);
  wire.addEventListener("heard", answered);
  for (const type of ["view", "presence", "update", "thought", "end", "error"]) {
    on(wire, type, (detail) => watched.get(detail.match)?.forEach((tell) => tell(detail)));
  }
  return wire;
}

// Call a listener with each listing, starting with the last known one. Returns a function that stops it.
export function onLobbyListing(listener) {
  spectator();
  listeners.add(listener);
  if (listeners.size === 1) wire.say("browse");
  if (listing) listener(listing);
  return () => listeners.delete(listener);
}

// Return true if the match has been in progress since the page was opened.
export const wasLive = (match) => live.has(match);

// Call a listener with view, presence, update, thought, end and error of a match. Returns a function that stops it.
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

// Request the whole match again, because a move was missed.
export const requestView = (match) => wire.say("watch", { match });
