// A bot: its matches in progress, its ratings over time, its results by opponent, map and side, the reasons for its losses, its
// matches.

import { addressOf } from "../router.js";
import { fetchJson } from "../api.js";
import { capitalized, h, say, set, svg } from "../dom.js";
import { roundStep } from "../parts/axis.js";
import { facts, failed, head, loneCard, page } from "../parts/cards.js";
import { against, matchLink } from "../parts/matchlist.js";
import { keyed } from "../parts/keyed.js";
import { pastRow } from "../parts/pastrow.js";
import { inWords, pointShare, rated, recordBar, scrolling } from "../parts/tables.js";
import { onLobbyListing } from "../spectator.js";
import { GAME_NAMES, SIDES, botTitle, gameTitle, other, plural, presence, reason, when, whole } from "../text.js";

const LISTED = 18;
const OPPONENTS = 10;

export class BotView {
  constructor(main, [name]) {
    this.place = h("div", null, h("p", { class: "quiet" }, "Loading…"));
    this.live = h("ul", { class: "cards swipe" });
    this.playing = h("section", { hidden: true }, h("h2", null, "Now"), this.live);
    this.line = h("p");
    main.replaceChildren(head(h("h1", { title: name }, botTitle(name)), this.line, h("a", { class: "button", href: addressOf("play", name) }, "Play")), this.place);
    this.unlist = onLobbyListing(({ matches, bots }) => {
      const bot = bots.find((each) => each.name === name);
      say(this.line, bot ? capitalized(presence(bot)) : "Not connected");
      const playing = matches.filter(({ players }) => [players.maxie, players.minnie].includes(name));
      set(this.playing, { hidden: !bot && !playing.length }); // a bot that lost its connection may still be in a match
      this.list(playing);
    });
    this.load(name);
  }

  async load(name) {
    try {
      const found = await fetchJson(`bot?name=${encodeURIComponent(name)}`).catch((error) => {
        if (error.status !== 404) throw error;
        return null; // no match of this bot has finished yet
      });
      if (this.stopped) return;
      this.place.replaceChildren(...(found ? [
        page(h("div", { class: "profile" }, found.standings.map((each) => standing(each, found.history[each.game] ?? []))), results(name, found.matches),
          this.playing, h("section", null, h("h2", null, "Latest matches"), h("ul", { class: "cards rows" }, found.matches.slice(0, LISTED).map(pastRow))))]
        : [loneCard(h("p", null, "No match of this bot has finished yet. Press Play to challenge it.")), this.playing]));
    } catch (error) {
      this.place.replaceChildren(failed(error));
    }
  }

  // The row of a connected bot keeps its place between matches, so that nothing below moves.
  list(matches) {
    const items = matches.length ? matches : [null];
    keyed(this.live, items, { key: (each) => each?.match ?? "", words: JSON.stringify, make: (each) => h("li", null, each
      ? h("a", { class: "card", href: matchLink(each.match) }, against(each.players), h("span", { class: "quiet" }, `${gameTitle(each.game, each.map)} · move ${each.ply}`))
      : h("div", { class: "card idle" }, h("span", { class: "pairing quiet" }, "Waiting for the next match"), h("span", { class: "quiet" }, "\u00a0"))) });
  }

  stop() {
    this.stopped = true;
    this.unlist?.();
  }
}

function standing(each, history) {
  const { game, matches } = each;
  const { middle, error, provisional } = rated(each);
  return h("section", null, h("h2", null, GAME_NAMES[game] ?? game),
    facts([
      [provisional ? "Rating (provisional)" : "Rating", whole(middle), h("span", { class: "quiet" }, ` ± ${error.toFixed(0)}`)],
      ["Rated matches", matches], ["Points", pointShare(each)],
    ]),
    recordBar(each),
    h("p", { class: "quiet" }, inWords(each)),
    history.length > 1 ? curve(history) : null);
}

const PARTS = 5; // between labelled ratings, at most

// Return the ratings from `low` to `high` that have a label.
function labelled(low, high) {
  const step = roundStep(high - low, PARTS);
  return Array.from({ length: PARTS + 1 }, (_, n) => (Math.ceil(low / step) + n) * step).filter((each) => each <= high);
}

// The rating over time, in a band of two deviations.
function curve(history) {
  const [width, height] = [600, 140];
  const times = history.map((each) => new Date(each.finished).getTime());
  const [begin, end] = [times[0], times[times.length - 1]];
  const low = Math.min(...history.map((each) => each.rating - 2 * each.deviation));
  const high = Math.max(...history.map((each) => each.rating + 2 * each.deviation));
  const y = (value) => height - ((value - low) / (high - low || 1)) * height;
  const at = (n, value) => `${(((times[n] - begin) / (end - begin || 1)) * width).toFixed(1)} ${y(value).toFixed(1)}`;
  const upper = history.map((each, n) => at(n, each.rating + 2 * each.deviation));
  const lower = history.map((each, n) => at(n, each.rating - 2 * each.deviation)).reverse();
  const last = history[history.length - 1];
  const marked = labelled(low, high);
  const labels = marked.map((each) => {
    const label = h("span", null, whole(each));
    label.style.top = `${((100 * y(each)) / height).toFixed(1)}%`;
    return label;
  });
  const drawn = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
    "aria-label": `Rating over ${history.length} matches, from ${whole(history[0].rating)} to ${whole(last.rating)}`,
  },
    marked.map((each) => svg("line", { class: "tick", x1: 0, x2: width, y1: y(each), y2: y(each) })),
    svg("path", { class: "band", d: `M${[...upper, ...lower].join("L")}Z` }),
    svg("path", { class: "line", d: `M${history.map((each, n) => at(n, each.rating)).join("L")}` }));
  return h("figure", { class: "plot" },
    h("div", { class: "scaled" }, h("div", { class: "axis", "aria-hidden": "true" }, labels), drawn),
    h("figcaption", { class: "quiet dates" }, h("span", null, when(history[0].finished)), h("span", null, `Rating ± 95 % error, ${plural(history.length, "match", "matches")}`), h("span", null, when(last.finished))));
}

// Results by opponent, by map and side, and by the reason of a loss.
function results(name, matches) {
  const [opponents, places, losses] = [new Map(), new Map(), new Map()];
  const count = (groups, key, what) => {
    const row = groups.get(key) ?? { wins: 0, draws: 0, losses: 0 };
    row[what] += 1;
    groups.set(key, row);
  };
  for (const { game, map, players, result } of matches) {
    if (result.reason === "server_fault") continue;
    const seat = players.maxie === name ? "maxie" : "minnie";
    const what = !result.winner ? "draws" : result.winner === seat ? "wins" : "losses";
    count(opponents, players[other(seat)], what);
    count(places, `${gameTitle(game, map ?? "")}\n${SIDES[seat]}`, what);
    if (what === "losses") losses.set(result.reason, (losses.get(result.reason) ?? 0) + 1);
  }
  const drawn = [...opponents.values()].some(({ draws }) => draws);
  const numbers = (row) => [row.wins, ...(drawn ? [row.draws] : []), row.losses].map((each) => h("td", null, each));
  const heads = (...columns) => h("thead", null, h("tr", null, [...columns, "W", ...(drawn ? ["D"] : []), "L"].map((each) => h("th", { scope: "col" }, each))));
  const sum = (row) => row.wins + row.draws + row.losses;
  const best = [...opponents].sort(([, a], [, b]) => sum(b) - sum(a)).slice(0, OPPONENTS);
  const latest = h("p", { class: "quiet" }, `From the latest ${plural(matches.length, "match", "matches")}.`);
  return [
    h("section", null, h("h2", null, "Against"), latest, scrolling("Against", h("table", null, heads("Opponent"), h("tbody", null,
      best.map(([rival, row]) => h("tr", null, h("th", { scope: "row", title: rival }, h("a", { href: addressOf("versus", name, rival) }, botTitle(rival))), numbers(row))))))),
    h("section", null, h("h2", null, "By map and side"), scrolling("By map and side", h("table", { class: "results" }, heads("Map", "Side"), h("tbody", null,
      [...places].sort().map(([key, row], n, all) => {
        const [where, seat] = key.split("\n");
        const isRepeated = n > 0 && all[n - 1][0].startsWith(`${where}\n`); // the eye finds the map above
        return h("tr", { class: isRepeated ? "same-map" : null }, h("th", { scope: "row" }, h("span", { class: isRepeated ? "unseen" : null }, where)), h("td", null, seat), numbers(row));
      }))))),
    h("section", null, h("h2", null, "How matches were lost"), losses.size
      ? h("table", null, h("tbody", null, [...losses].sort((a, b) => b[1] - a[1]).map(([why, n]) => h("tr", null, h("th", { scope: "row" }, capitalized(reason(why))), h("td", null, n)))))
      : h("p", { class: "quiet" }, "No losses."))];
}
