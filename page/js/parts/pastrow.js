// A finished match as a row: its final position and the score, too. Both come from the record, which is requested when the row is
// about to be seen. Until then, a built-in map is shown at its start.

import { fetchJson } from "../api.js";
import { Thumbnail } from "../boards/thumbnail.js";
import { h, say } from "../dom.js";
import { Match } from "../match.js";
import { GAME_NAMES, SEATS, other } from "../text.js";
import { startThumb } from "./mappicture.js";
import { pastItem } from "./matchlist.js";

const PRELOAD_MARGIN = "400px"; // from the window: there a row is about to be seen

const boards = new Set(); // on the page, and some that have left it
const waiting = new WeakMap(); // what completes a row
let turn = Promise.resolve(); // one row after another, because other requests of the reader come first
const observer = new IntersectionObserver((entries) => {
  for (const { target } of entries.filter((each) => each.isIntersecting)) {
    observer.unobserve(target);
    turn = turn.then(waiting.get(target));
  }
}, { rootMargin: PRELOAD_MARGIN });

export function pastRow(past) {
  const item = pastItem(past);
  const picture = h("span", { class: "picture-of" });
  const score = h("span", { class: "final-score" });
  item.firstElementChild.prepend(picture);
  item.firstElementChild.append(score);
  if (past.game === "riskless") {
    startThumb(past.map, (board) => {
      if (picture.hasChildNodes()) return false;
      put(board, picture);
      return true;
    });
  }
  if (Object.hasOwn(GAME_NAMES, past.game)) {
    waiting.set(item, () => complete(past, { picture, score, outcome: item.querySelector(".outcome") }));
    observer.observe(item);
  }
  return item;
}

// Show the final position, and in a game of armies the score and the winner's lead.
async function complete({ match: id, result }, { picture, score, outcome }) {
  if (!picture.isConnected) return;
  try {
    const match = Match.fromRecord(await fetchJson(`record/${encodeURIComponent(id)}`));
    const board = new Thumbnail(match.game);
    put(board, picture);
    board.show(match.last, null);
    const held = match.game.score?.(match.last);
    if (!held) return;
    const [maxie, minnie] = SEATS.map((seat) => held[seat].armies);
    const lost = result.winner && other(result.winner);
    score.replaceChildren(h("span", { "data-lost": lost === "maxie" }, maxie), h("span", { class: "versus" }, " : "), h("span", { "data-lost": lost === "minnie" }, minnie));
    if (result.reason === "armies") say(outcome, `${match.players[result.winner]} won by ${Math.abs(maxie - minnie)}`);
  } catch {
    return; // a row without a picture leads to its match, too
  }
}

// Put a board in its place, and stop the boards that have left the page.
function put(board, picture) {
  picture.replaceChildren(board.element);
  boards.add(board);
  for (const each of boards) {
    if (each.element.isConnected) continue;
    each.stop();
    boards.delete(each);
  }
}
