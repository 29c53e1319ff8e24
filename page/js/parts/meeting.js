// The players of a match at its start: their ratings, their matches so far and those against each other, and the rules in short.

import { h } from "../dom.js";
import { SEATS, SIDES, botOf, whole } from "../text.js";
import { rulesInShort } from "./rules.js";

// Return cards about the players and the rules. `table`: the standings and the scores between bots, as the server has them; null if they are not known.
export function meeting({ bots, gameName, players, positions: [start], game }, table) {
  const names = SEATS.map((seat) => botOf(bots[seat]));
  const ranked = names.map((bot) => table?.standings.find((each) => each.bot === bot && each.game === gameName));
  const score = table?.crosses[gameName]?.find(({ bot, opponent }) => bot === names[0] && opponent === names[1]);
  const held = game.score?.(start);
  const rows = [
    ranked.some(Boolean) && ["Rating", ranked.map((each) => (each ? whole(each.rating) : "none yet"))],
    ranked.some(Boolean) && ["Matches won", ranked.map((each) => (each ? `${each.won} of ${each.matches}` : "0"))],
    score && ["Against each other", [score.won + score.drawn / 2, score.lost + score.drawn / 2]],
    held && ["Territories at the start", SEATS.map((seat) => held[seat].places)],
    held && ["Armies at the start", SEATS.map((seat) => held[seat].armies)],
  ].filter(Boolean);
  const title = (seat) => h("th", { scope: "col", "data-owner": seat }, h("span", { class: "shape", role: "img", "aria-label": `${SIDES[seat]}:` }), " ", players[seat]);
  const lines = rulesInShort(gameName);
  return [
    rows.length ? h("section", { class: "meeting" }, h("table", null, h("thead", null, h("tr", null, h("td"), SEATS.map(title))),
      h("tbody", null, rows.map(([name, values]) => h("tr", null, h("th", { scope: "row" }, name), values.map((each) => h("td", null, each))))))) : null,
    lines.length ? h("section", { class: "meeting" }, h("h2", null, "How it is played"), h("ul", null, lines.map((each) => h("li", null, each)))) : null,
  ].filter(Boolean);
}
