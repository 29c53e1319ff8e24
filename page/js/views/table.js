// The ratings of each game, the scores between bots, and the events.

import { addressOf } from "../router.js";
import { fetchJson } from "../api.js";
import { h } from "../dom.js";
import { failed, head, loneCard, page } from "../parts/cards.js";
import { noBotYet } from "../parts/newcomer.js";
import { PagedList } from "../parts/paged.js";
import { headToHead, rated, ratings } from "../parts/tables.js";
import { Tabs } from "../parts/tabs.js";
import { GAME_NAMES, eventTitle, mapTitle, plural, timeTitle } from "../text.js";

export class TableView {
  constructor(main) {
    this.place = h("div", null, h("p", { class: "quiet" }, "Loading…"));
    this.choices = h("div", { class: "filters" });
    main.replaceChildren(head(h("h1", null, "Ratings"), null, this.choices), this.place);
    this.load();
  }

  // Load the tables of a closed season; without a name those of the running season.
  async load(season = "") {
    try {
      this.show(await fetchJson(season ? `table?season=${encodeURIComponent(season)}` : "table"), season);
    } catch (error) {
      this.place.replaceChildren(failed(error));
    }
  }

  // One tab per game, starting with the game that has the most rated matches.
  show({ standings, crosses, events, categories, seasons }, season) {
    const counts = new Map();
    for (const { game, matches } of standings) counts.set(game, (counts.get(game) ?? 0) + matches);
    const games = [...counts].sort((a, b) => b[1] - a[1]).map(([game]) => game);
    const listed = events.length ? eventList(events) : null;
    const panel = h("div", { role: games.length > 1 ? "tabpanel" : null, "aria-label": games.length > 1 ? "Ratings" : null });
    const choose = (game) => {
      const latest = h("section", null, h("div", { class: "stage-head" }, h("h2", null, "Latest matches"), h("a", { class: "button plain small", href: `/search?game=${encodeURIComponent(game)}` }, "All matches")), new PagedList(`search?game=${encodeURIComponent(game)}`, "None yet.", spanOf(seasons.filter((each) => each.game === game), season)).element);
      const show = (tables) => panel.replaceChildren(this.ratings(game, tables, listed, latest));
      const filter = categoryFilter(categories.filter((each) => each.game === game), season, (tables) => show(tables ?? { standings, crosses }));
      this.choices.replaceChildren(...[chooser, filter].filter(Boolean));
      show({ standings, crosses });
    };
    const names = [...new Set(seasons.map(({ name }) => name))];
    const chooser = names.length ? h("label", { class: "filter" }, "Season ", h("select", { onchange: ({ target }) => this.load(target.value) },
      h("option", { value: "" }, "current"), names.map((name) => h("option", { value: name, selected: name === season }, name)))) : null;
    this.choices.replaceChildren(...[chooser].filter(Boolean));
    const tabs = new Tabs("Games", games.map((game) => GAME_NAMES[game] ?? game), (n) => games.length && choose(games[n]));
    this.place.replaceChildren(...[
      games.length > 1 ? tabs.element : null,
      ...(games.length ? [panel] : [noRatingsYet(), listed]),
    ].filter(Boolean));
  }

  // The ratings of a game. `listed`: the events, which stand beside the ratings, or below them if the scores between the bots stand there.
  ratings(game, { standings, crosses }, listed, latest) {
    const rows = standings.filter((each) => each.game === game).map(rated);
    const unsure = rows.some((row) => row.provisional) ? " A question mark means provisional: too few matches yet." : "";
    const { parts, isWide } = headToHead(rows, crosses[game] ?? []);
    const section = parts.length ? h("section", null, parts) : null;
    const ranking = h("section", null, ratings(rows), h("p", { class: "quiet" }, "Glicko-2 ratings from rated matches.", h("span", { class: "of-lines" }, " Each line shows where a rating lies with 95 % certainty."), unsure));
    if (isWide) return page(ranking, [listed].filter(Boolean), section, latest);
    return page(h("div", null, ranking, listed), [section].filter(Boolean), latest);
  }

  stop() {}
}

// Return the times of a season's beginning and end, empty where it has none. `closed`: the closed seasons, the latest first.
function spanOf(closed, season) {
  const n = closed.findIndex(({ name }) => name === season);
  return { since: closed[n + 1]?.closed ?? "", until: closed[n]?.closed ?? "" };
}

// Selection of the map and time control of rated matches, if there are several.
function categoryFilter(categories, season, show) {
  if (categories.length < 2) return null;
  const choose = async ({ target }) => {
    const each = categories[target.value];
    const given = each && Object.entries({ map: each.map, tc: each.time_control, season }).filter(([, value]) => value);
    show(each && await fetchJson(`table?${given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")}`));
  };
  return h("label", { class: "filter" }, "Matches ", h("select", { onchange: choose }, h("option", { value: "" }, "all"),
    categories.map(({ map, time_control }, n) => h("option", { value: n }, [mapTitle(map), timeTitle(time_control)].filter(Boolean).join(", ")))));
}

const noRatingsYet = () => loneCard(
  h("section", null, h("h2", null, "No ratings yet"), h("p", null, "No rated match has finished yet. Ratings appear here when two connected bots have played one."),
    h("p", null, h("a", { class: "button plain", href: "/tv" }, "Watch Arena TV"))),
  h("section", { class: "briefing" }, noBotYet()));

const eventList = (events) => h("section", null, h("h2", null, "Events"), h("ul", { class: "cards events" }, events.map(({ event, matches }) => h("li", null,
  h("a", { class: "card", href: addressOf("event", event) }, h("strong", null, eventTitle(event)), h("span", { class: "quiet" }, plural(matches, "match", "matches")))))));
