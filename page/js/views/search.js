// Finished matches by bot, opponent, map, game, event, result and opening. The address contains the search terms.

import { navigate, addressOf } from "../router.js";
import { fetchJson } from "../api.js";
import { h } from "../dom.js";
import { failed } from "../parts/cards.js";
import { PagedList } from "../parts/paged.js";
import { GAME_NAMES, REASONS, mapTitle } from "../text.js";

const RARE = ["result", "game", "event"]; // folded until they are asked for
const FIELDS = ["bot", "opponent", "map", ...RARE, "like"];

export class SearchView {
  constructor(main) {
    const asked = new URLSearchParams(location.search);
    this.wanted = Object.fromEntries(FIELDS.map((name) => [name, asked.get(name) ?? ""]));
    this.place = h("div");
    main.replaceChildren(h("h1", null, "Search"), this.place);
    this.prepare();
  }

  async prepare() {
    try {
      const about = await fetchJson("about");
      if (!this.stopped) this.show(about);
    } catch (error) {
      if (!this.stopped) this.place.replaceChildren(failed(error));
    }
  }

  show({ games, maps }) {
    const { wanted } = this;
    const text = (name, label) => h("label", { class: "row" }, label, h("input", { name, value: wanted[name], maxlength: 128, autocomplete: "off" }));
    const choice = (name, label, options) => h("label", { class: "row" }, label, h("select", { name },
      [["", "Any"], ...options].map(([value, words]) => h("option", { value, selected: value === wanted[name] }, words))));
    const results = [["won", "The bot won"], ["lost", "The bot lost"], ["maxie", "Blue won"], ["minnie", "Orange won"], ["drawn", "Drawn"], ...Object.entries(REASONS)];
    const form = h("form", { class: "search-form", role: "search", onsubmit: (event) => this.submit(event) },
      text("bot", "Bot"), text("opponent", "Against"), choice("map", "Map", maps.map((each) => [each, mapTitle(each)])),
      h("button", { class: "button" }, "Search"),
      h("details", { open: RARE.some((name) => wanted[name]) }, h("summary", null, "More filters"),
        h("div", { class: "search-form" }, choice("result", "Result", results), choice("game", "Game", games.map((each) => [each, GAME_NAMES[each] ?? each])), text("event", "Event"))));
    const like = wanted.like && h("p", null, "With the opening of ", h("a", { href: addressOf("match", wanted.like) }, "this match"), ".");
    const given = FIELDS.filter((name) => wanted[name]).map((name) => `${name}=${encodeURIComponent(wanted[name])}`);
    const found = new PagedList(`search${given.length ? `?${given.join("&")}` : ""}`, "No matches found. Leave a field empty to find more.", { counts: true });
    this.place.replaceChildren(...[form, like, found.told, found.element].filter(Boolean));
  }

  submit(event) {
    event.preventDefault();
    const given = [...new FormData(event.target)].filter(([, value]) => String(value).trim());
    this.place.replaceChildren(); // input before the next form is ready would be lost
    navigate(`/search${given.length ? `?${new URLSearchParams(/** @type {any} */ (given.map(([name, value]) => [name, String(value).trim()])))}` : ""}`);
  }

  stop() {
    this.stopped = true;
  }
}
