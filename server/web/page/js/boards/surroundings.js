// What a picture of a map needs beside the setup of a match: continents, cells, and whether it goes round.

import { askOnce } from "../api.js";

export const PLAIN = { continents: [], wraps: false, cells: null };

// Of a shipped map what the server knows; PLAIN of others, and of one that has changed since the match.
export async function surroundings(setup) {
  if (!setup.map || setup.map.includes(":")) return PLAIN;
  try {
    const found = await askOnce(`map/${encodeURIComponent(setup.map)}`);
    const same = JSON.stringify([found.setup.neighbours, found.setup.places]) === JSON.stringify([setup.neighbours, setup.places]);
    return same ? found : PLAIN;
  } catch {
    return PLAIN; // a map of somebody's own
  }
}
