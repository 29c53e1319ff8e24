// Lists of matches: one link each, which says who plays whom and how it stands.

import { to } from "../address.js";
import { h } from "../dom.js";
import { GAME_NAMES, control, plural, shortly, when } from "../text.js";

export const matchLink = (match) => to("match", match);

export const against = (players) => h("span", { class: "pairing" },
  h("span", { class: "side-name", "data-owner": "maxie" }, h("span", { class: "shape", role: "img", "aria-label": "Maxie:" }), players.maxie),
  h("span", { class: "versus" }, "v"),
  h("span", { class: "side-name", "data-owner": "minnie" }, h("span", { class: "shape", role: "img", "aria-label": "Minnie:" }), players.minnie));

export function liveItem({ match, game, map, players, time_control, ply }) {
  return h("li", null, h("a", { class: "card live", href: to("match", match) },
    against(players),
    h("span", { class: "quiet" }, `${GAME_NAMES[game] ?? game}${map ? ` ${map}` : ""} · ${control(time_control)} · ply ${ply}`)));
}

export function pastItem({ match, game, map, players, finished, plies, result }) {
  const who = result.winner ? `${players[result.winner]} won` : result.reason === "server_fault" ? "void" : "draw";
  return h("li", null, h("a", { class: "card", href: to("match", match) },
    against(players),
    h("span", { class: "outcome" }, `${who}: ${shortly(result)}`),
    h("span", { class: "quiet" }, `${GAME_NAMES[game] ?? game}${map ? ` ${map}` : ""} · ${plural(plies, "ply", "plies")} · ${when(finished)}`)));
}
