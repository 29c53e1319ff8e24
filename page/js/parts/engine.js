// Positions and moves in the form of the server's engine, and the matches for which the engine is available.

import { fetchOnce } from "../api.js";
import { coded } from "../games/declared.js";

// Returns true if a match is on a built-in map.
export const isBuiltIn = async (match) => (await known(match)) !== null;

// Returns true if guests may ask the engine about positions of a match: it is on a built-in map.
export const engineFor = async (match) => Boolean((await known(match))?.guests);

// Return true if guests may ask the engine to review a match: the server knows its game and its map. If what the server knows could not
// be fetched, the request for the review reports why there is none.
export async function mayReview({ game, gameName, setup }) {
  const about = await aboutServer();
  return about === null || (about.guests && about.games.includes(gameName) && (!game.names || about.maps.includes(setup.map)));
}

async function known({ game, setup }) {
  if (!game.names || !setup.map) return null;
  const about = await aboutServer();
  return about?.maps.includes(setup.map) ? about : null;
}

const aboutServer = () => fetchOnce("about").catch(() => null); // the rest of the page reports that the server does not answer

// Return the address at which the server reviews a match that it has not stored. The server knows the territories of built-in maps.
export function reviewOfMoves({ gameName, setup, moves }) {
  const short = { ...setup, territories: undefined, neighbours: undefined, places: undefined };
  return `review?game=${encodeURIComponent(gameName)}&setup=${coded(short)}&moves=${coded(moves.map((each) => each.move))}`;
}

// Return a position of Riskless in the form that the server reads.
export const written = ({ armies, player, ply }) => `${armies.map((n) => (n ? `${n > 0 ? "+" : ""}${n}` : ".")).join(" ")} ${player} ${ply}`;

// Return a move's text for the server: parts joined by a blank, or by > if a name contains a blank. The page joins them by an arrow.
const plain = (text) => text.replace(/ [>→] /, " ");

// Return the moves of a line from the server, up to the first illegal one.
export function read(game, position, line) {
  const found = [];
  let at = position;
  for (const text of line) {
    const move = game.moves(at).find((each) => plain(game.text(each)) === plain(text));
    if (move === undefined) break; // it may be cell 0
    found.push(move);
    at = game.play(at, move);
  }
  return found;
}
