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
  fetchOnce(`map/${encodeURIComponent(name)}`).then(({ setup }) => {
    const game = rules("riskless", setup);
    const board = new Thumbnail(game);
    place.replaceChildren(board.element);
    board.show(game.start(), null);
  }, () => null);
  return [place, h("span", null, mapTitle(name))];
}
