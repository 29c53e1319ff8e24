// A map at the start of a match, to look at.

import { askOnce } from "../api.js";
import { makeBoard } from "../boards/index.js";
import { h } from "../dom.js";
import { rules } from "../games/index.js";

export function mapPicture(name) {
  const inside = h("div", { inert: true });
  const place = h("div", { class: "board mini-board", role: "img", "aria-label": `The map ${name}` }, inside);
  askOnce(`map/${encodeURIComponent(name)}`).then(({ setup }) => {
    const game = rules("riskless", setup);
    const board = makeBoard(game, () => null, { whole: true });
    inside.replaceChildren(board.element);
    board.show(game.start(), null, null);
  }, () => place.remove());
  return place;
}
