// What a picture of a map needs beside the setup of a match: continents, cells, and whether it goes round.

import { askOnce } from "../api.js";

export const PLAIN = { continents: [], wraps: false, cells: null };
const UNKNOWN = { continents: [], wraps: false, cells: undefined };

const generated = (setup) => !setup.map || setup.map.includes(":");

const known = new Map(); // what the server knows of a map, by its name

// What a picture begins with: of a map that may have land nothing is known before the server has said it.
export function atFirst(setup) {
  if (generated(setup)) return PLAIN;
  return known.has(setup.map) ? fitting(known.get(setup.map), setup) : UNKNOWN;
}

// The map may have changed since the match.
function fitting(found, setup) {
  const same = JSON.stringify([found.setup.neighbours, found.setup.places]) === JSON.stringify([setup.neighbours, setup.places]);
  return same ? found : PLAIN;
}

// Of a shipped map what the server knows; PLAIN of others, and of one that has changed since the match.
export async function surroundings(setup) {
  if (generated(setup)) return PLAIN;
  try {
    known.set(setup.map, await askOnce(`map/${encodeURIComponent(setup.map)}`));
    return fitting(known.get(setup.map), setup);
  } catch {
    return PLAIN; // a map of somebody's own
  }
}
