// Briefing of a player before the first move, in the place of the list of moves: the goal, the rules in short, the opponent.

import { h } from "../dom.js";
import { SIDES, gameTitle, other, plural } from "../text.js";
import { rulesInShort } from "./rules.js";

export function briefing({ gameName, setup, players, control }, seat) {
  const { armies_to_win: goal, territories, ply_limit: limit } = setup;
  const order = seat === "maxie" ? "move first" : "move second";
  const where = [gameTitle(gameName, setup.map), territories ? plural(territories.length, "territory", "territories") : "", control, limit ? `a draw after ${limit} moves` : ""];
  const rules = rulesInShort(gameName);
  return h("section", { class: "briefing", "aria-label": "Before you begin" },
    h("h2", null, goal ? "How to win" : gameTitle(gameName)),
    goal ? h("p", null, `Be the first with ${goal} armies, or take the last territory of ${players[other(seat)]}.`) : null,
    rules.length ? h("ol", null, rules.map((each) => h("li", null, each))) : null,
    h("p", null, `You are ${SIDES[seat]} and ${order}. ${players[other(seat)]} is ${SIDES[other(seat)]}.`),
    h("p", { class: "quiet" }, where.filter(Boolean).join(" · ")));
}
