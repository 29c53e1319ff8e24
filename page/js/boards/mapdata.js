// Data for the picture of a map besides the setup of a match: continents, cells, roads over the sea, and wrap-around.

import { fetchOnce } from "../api.js";

export const PLAIN = { continents: [], wraps: false, cells: null, ferries: [], marks: null, short_names: [] };
const UNKNOWN = { continents: [], wraps: false, cells: undefined, ferries: [], marks: null, short_names: [] };

const generated = (setup) => !setup.map || setup.map.includes(":");

const known = new Map(); // the server's data of each map, by name

// Initial data of a picture: the land of a map is unknown before the server has answered.
export function cachedMapData(setup) {
  if (generated(setup)) return PLAIN;
  return known.has(setup.map) ? fitting(known.get(setup.map), setup) : UNKNOWN;
}

// The map may have changed since the match.
function fitting(found, setup) {
  const same = JSON.stringify([found.setup.neighbours, found.setup.places]) === JSON.stringify([setup.neighbours, setup.places]);
  return same ? found : PLAIN;
}

// Return the server's data of a built-in map; PLAIN for other maps, and for a map that has changed since the match.
export async function loadMapData(setup) {
  if (generated(setup)) return PLAIN;
  try {
    known.set(setup.map, await fetchOnce(`map/${encodeURIComponent(setup.map)}`));
    return fitting(known.get(setup.map), setup);
  } catch {
    return PLAIN; // a user's own map
  }
}
