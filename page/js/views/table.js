// The table: ratings of each game, who scored what against whom, and the events.

import { to } from "../address.js";
import { ask } from "../api.js";
import { h } from "../dom.js";
import { cross, standing } from "../parts/tables.js";
import { GAME_NAMES, plural } from "../text.js";

export class TableView {
  constructor(main) {
    this.place = h("div", null, h("p", { class: "quiet" }, "Loading …"));
    main.replaceChildren(h("h1", null, "Table"), this.place);
    this.load();
  }

  async load() {
    try {
      this.place.replaceChildren(...ratings(await ask("table")));
    } catch (error) {
      this.place.replaceChildren(h("p", { class: "fault", role: "alert" }, error.message));
    }
  }

  stop() {}
}

function ratings({ standings, crosses, events }) {
  const games = [...new Set(standings.map((each) => each.game))];
  const parts = games.flatMap((game) => {
    const rows = standings.filter((each) => each.game === game).map((each) => ({
      ...each, middle: each.rating, error: 2 * each.deviation,
    }));
    return [h("h2", null, GAME_NAMES[game] ?? game), h("p", { class: "quiet" }, "Glicko-2 ratings of rated matches, with their 95 % error."), standing(rows, "Rating"), cross(rows.map((row) => row.bot), crosses[game] ?? [])].filter(Boolean);
  });
  if (!parts.length) parts.push(h("p", { class: "quiet" }, "No rated match is finished yet."));
  if (events.length) {
    parts.push(h("h2", null, "Events"), h("ul", { class: "events" }, events.map(({ event, matches }) => h("li", null,
      h("a", { href: to("event", event) }, event), h("span", { class: "quiet" }, ` ${plural(matches, "match", "matches")}`)))));
  }
  return parts;
}
