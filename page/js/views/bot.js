// A bot: its ratings over time, its results by game, map and seat, the reasons of its losses, its matches.

import { addressOf } from "../router.js";
import { fetchJson } from "../api.js";
import { h, svg } from "../dom.js";
import { pastItem } from "../parts/matchlist.js";
import { ratingText } from "../parts/tables.js";
import { GAME_NAMES, SIDES, botTitle, gameTitle, plural, reason, when } from "../text.js";

const LISTED = 20;

export class BotView {
  constructor(main, [name]) {
    this.place = h("div", null, h("p", { class: "quiet" }, "Loading…"));
    main.replaceChildren(
      h("h1", { title: name }, botTitle(name)),
      h("p", null, h("a", { class: "button", href: addressOf("play", name) }, "Play")),
      this.place);
    this.load(name);
  }

  async load(name) {
    try {
      const found = await fetchJson(`bot?name=${encodeURIComponent(name)}`);
      this.place.replaceChildren(
        ...found.standings.map((each) => standing(each, found.history[each.game] ?? [])),
        results(name, found.matches),
        h("section", null, h("h2", null, "Latest matches"), h("ul", { class: "cards" }, found.matches.slice(0, LISTED).map(pastItem))));
    } catch (error) {
      this.place.replaceChildren(h("p", { class: "fault", role: "alert" }, error.message));
    }
  }

  stop() {}
}

function standing(each, history) {
  const { game, matches, won, drawn, lost, forfeits, crash } = each;
  return h("section", null, h("h2", null, GAME_NAMES[game] ?? game),
    h("p", null, h("strong", null, ratingText(each)),
      ` from ${plural(matches, "rated match", "rated matches")}: ${won} won, ${drawn} drawn, ${lost} lost, ${plural(forfeits, "forfeit")}, ${plural(crash, "crash", "crashes")}`),
    history.length > 1 ? curve(history) : null);
}

// The rating over time, in a band of two deviations.
function curve(history) {
  const [width, height] = [600, 140];
  const times = history.map((each) => new Date(each.finished).getTime());
  const [begin, end] = [times[0], times[times.length - 1]];
  const low = Math.min(...history.map((each) => each.rating - 2 * each.deviation));
  const high = Math.max(...history.map((each) => each.rating + 2 * each.deviation));
  const at = (n, value) => `${(((times[n] - begin) / (end - begin || 1)) * width).toFixed(1)} ${(height - ((value - low) / (high - low || 1)) * height).toFixed(1)}`;
  const upper = history.map((each, n) => at(n, each.rating + 2 * each.deviation));
  const lower = history.map((each, n) => at(n, each.rating - 2 * each.deviation)).reverse();
  const last = history[history.length - 1];
  return h("figure", { class: "plot" },
    svg("svg", { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
      "aria-label": `Rating over ${history.length} matches, from ${history[0].rating.toFixed(0)} to ${last.rating.toFixed(0)}` },
    svg("path", { class: "band", d: `M${[...upper, ...lower].join("L")}Z` }),
    svg("path", { class: "line", "data-owner": "maxie", d: `M${history.map((each, n) => at(n, each.rating)).join("L")}` })),
    h("figcaption", { class: "quiet dates" }, h("span", null, when(history[0].finished)), h("span", null, `${low.toFixed(0)} to ${high.toFixed(0)}, ${plural(history.length, "match", "matches")}`), h("span", null, when(last.finished))));
}

function results(name, matches) {
  const groups = new Map();
  const losses = new Map();
  for (const { game, map, players, result } of matches) {
    if (result.reason === "server_fault") continue;
    const seat = players.maxie === name ? "maxie" : "minnie";
    const what = !result.winner ? "draws" : result.winner === seat ? "wins" : "losses";
    const key = `${gameTitle(game, map ?? "")}\n${SIDES[seat]}`;
    const row = groups.get(key) ?? { wins: 0, draws: 0, losses: 0 };
    row[what] += 1;
    groups.set(key, row);
    if (what === "losses") losses.set(result.reason, (losses.get(result.reason) ?? 0) + 1);
  }
  const numbers = ({ wins, draws, losses: lost }) => [wins, draws, lost].map((each) => h("td", null, each));
  return h("section", { class: "columns" },
    h("div", null, h("h2", null, "By map and side"), h("table", { class: "results" },
      h("thead", null, h("tr", null, ["Map", "Side", "W", "D", "L"].map((each) => h("th", { scope: "col" }, each)))),
      h("tbody", null, [...groups].sort().map(([key, row]) => {
        const [where, seat] = key.split("\n");
        return h("tr", null, h("th", { scope: "row" }, where), h("td", null, seat), numbers(row));
      })))),
    h("div", null, h("h2", null, "How matches were lost"), losses.size
      ? h("table", null, h("tbody", null, [...losses].sort((a, b) => b[1] - a[1]).map(([why, n]) => h("tr", null, h("th", { scope: "row" }, reason(why)), h("td", null, n)))))
      : h("p", { class: "quiet" }, "No losses.")),
    h("p", { class: "quiet" }, `From the latest ${plural(matches.length, "match", "matches")}.`));
}
