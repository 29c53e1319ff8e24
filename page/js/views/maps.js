// The built-in maps: a picture of each, its numbers, statistics of its matches, and solved values.

import { addressOf } from "../router.js";
import { fetchJson } from "../api.js";
import { h, say, set } from "../dom.js";
import { facts, failed, head, page } from "../parts/cards.js";
import { mapPicture } from "../parts/mappicture.js";
import { pastRow } from "../parts/pastrow.js";
import { table } from "../parts/tables.js";
import { LARGE_MAPS, SEATS, SEAT_NAMES, SIDES, inMapOrder, mapFacts, mapTitle, plural } from "../text.js";

const LATEST = 6; // matches below a map

export class MapsView {
  constructor(main, [name]) {
    this.place = h("div", null, h("p", { class: "quiet" }, "Loading…"));
    this.line = h("p", null, name ? "" : "Choose a map to see how it plays, or to play on it.");
    const query = `map=${encodeURIComponent(name ?? "")}`;
    this.actions = name ? [h("a", { class: "button", href: `/play?${query}` }, "Play")] : [];
    main.replaceChildren(head(h("h1", null, name ? mapTitle(name) : "Maps"), this.line, ...this.actions), this.place);
    this.load(name);
  }

  async load(name) {
    try {
      const known = await fetchJson("maps");
      if (this.stopped) return;
      const mapOf = (each) => known.find((map) => map.name === each);
      const one = mapOf(name);
      const names = inMapOrder(known.map((each) => each.name));
      const cards = (/** @type {boolean} */ large) => names.filter((each) => LARGE_MAPS.includes(each) === large).map(mapOf).map(card);
      const unknown = name && !one ? [h("p", { class: "quiet" }, "No built-in map has this name. These are the built-in maps:")] : [];
      if (one) say(this.line, `${one.description}.`);
      for (const each of this.actions) set(each, { hidden: !one });
      this.place.replaceChildren(...(one ? [whole(one)] : [...unknown, h("ul", { class: "cards maps" }, cards(true)), h("h2", null, "Small maps"), h("ul", { class: "cards maps small-maps" }, cards(false))]));
    } catch (error) {
      if (!this.stopped) this.place.replaceChildren(failed(error));
    }
  }

  stop() {
    this.stopped = true;
  }
}

const numbers = ({ territories, roads, continents }) =>
  [plural(territories, "territory", "territories"), plural(roads, "road"), continents ? plural(continents, "continent") : ""].filter(Boolean).join(", ");

// The measurements come from a table for authors of bots, which calls the players Maxie and Minnie, and moves plies.
const forReaders = (text) => SEATS.reduce((said, seat) => said.replaceAll(SEAT_NAMES[seat], SIDES[seat]), text)
  .replace(/\bplies\b/g, "moves").replace(/\bply\b/g, "move");

function card(map) {
  return h("li", null, h("a", { class: "card", href: addressOf("maps", map.name) },
    h("strong", null, mapTitle(map.name), map.default ? h("span", { class: "quiet" }, " · the default map") : null),
    mapPicture(map.name), h("span", null, map.description), h("span", { class: "quiet" }, mapFacts(map)),
    map.solved ? h("span", { class: "outcome" }, `Solved: ${forReaders(map.solved.start)}`) : null));
}

function whole(map) {
  return page(mapPicture(map.name), [
    h("section", null, h("h2", null, numbers(map)), facts([["Armies to win", map.armies_to_win], ["Most per territory", map.territory_cap], ["Moves until a draw", map.ply_limit]]),
      h("p", null, map.solved
        ? forReaders(`With perfect play: ${map.solved.start}. The longest win takes ${map.solved.longest}. Is Minnie’s extra army fair? ${map.solved.fair}.`)
        : "Not solved yet: nobody knows who wins with perfect play.")),
    map.measured.length ? h("section", null, h("h2", null, "Matches between equal engines"), measured(map.measured)) : null,
  ], latest(map.name));
}

// The latest matches on a map, and the way to all.
function latest(name) {
  const query = `search?map=${encodeURIComponent(name)}`;
  const list = h("ul", { class: "cards rows" });
  const told = h("p", { class: "quiet" }, "Loading…");
  fetchJson(`${query}&limit=${LATEST}`).then(({ matches }) => {
    list.append(...matches.map(pastRow));
    told.replaceChildren(matches.length ? h("a", { href: `/${query}` }, "All matches") : "None yet. Press Play to begin the first one.");
  }, ({ message }) => say(told, message));
  return h("section", null, h("h2", null, "Latest matches"), list, told);
}

function measured(rows) {
  return table("Measured", ["Nodes a move", "Drawn", "Moves", "Blue’s share"], rows.map(({ nodes, drawn, plies, maxie }) => [nodes, drawn, plies, maxie]));
}
