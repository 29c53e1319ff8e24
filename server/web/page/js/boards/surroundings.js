// What a picture of a map needs beside the setup of a match: continents, cells, and whether it goes round.

import { askOnce } from "../api.js";

export const PLAIN = { continents: [], wraps: false, cells: null };
const UNKNOWN = { continents: [], wraps: false, cells: undefined };

const generated = (setup) => !setup.map || setup.map.includes(":");

// What a picture begins with: of a map that may have land nothing is known yet.
export const atFirst = (setup) => (generated(setup) ? PLAIN : UNKNOWN);

// Of a shipped map what the server knows; PLAIN of others, and of one that has changed since the match.
export async function surroundings(setup) {
  if (generated(setup)) return PLAIN;
  try {
    const found = await askOnce(`map/${encodeURIComponent(setup.map)}`);
    const same = JSON.stringify([found.setup.neighbours, found.setup.places]) === JSON.stringify([setup.neighbours, setup.places]);
    return same ? found : PLAIN;
  } catch {
    return PLAIN; // a map of somebody's own
  }
}
