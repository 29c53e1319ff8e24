// A map at the start of a match, to look at.

import { fetchOnce } from "../api.js";
import { makeBoard } from "../boards/index.js";
import { Thumbnail } from "../boards/thumbnail.js";
import { h } from "../dom.js";
import { rules } from "../games/index.js";
import { mapTitle } from "../text.js";

export function mapPicture(name) {
  const inside = h("div", { inert: true });
  const place = h("div", { class: "board mini-board", role: "img", "aria-label": `Map of ${mapTitle(name)}` }, inside);
  fetchOnce(`map/${encodeURIComponent(name)}`).then(({ setup }) => {
    const game = rules("riskless", setup);
    const board = makeBoard(game, () => null, { whole: true });
    inside.replaceChildren(board.element);
    board.show(game.start(), null, null);
  }, () => place.remove());
  return place;
}

// The same in the size of a thumb, without names, with the title of the map.
export function mapThumb(name) {
  const place = h("span", { class: "picture-of" });
  startThumb(name, (board) => {
    place.replaceChildren(board.element);
    return true;
  });
  return [place, h("span", null, mapTitle(name))];
}

// Call put() with a thumbnail of a built-in map, and draw the start of a match there if put() returns true.
export async function startThumb(name, put) {
  if (name.includes(":")) return; // a user's own map, of which the server has no picture
  const found = await fetchOnce(`map/${encodeURIComponent(name)}`).catch(() => null); // without it, the place of the picture is empty
  if (!found) return;
  const game = rules("riskless", found.setup);
  const board = new Thumbnail(game);
  if (put(board)) board.show(game.start(), null);
  else board.stop();
}
