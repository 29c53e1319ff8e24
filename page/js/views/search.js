// Finished matches by bot, opponent, map, game, event, result and opening. What is looked for stands in the address.

import { go, to } from "../address.js";
import { ask } from "../api.js";
import { h } from "../dom.js";
import { Paged } from "../parts/paged.js";
import { GAME_NAMES, REASONS } from "../text.js";

const FIELDS = ["bot", "opponent", "map", "game", "event", "result", "like"];

export class SearchView {
  constructor(main) {
    const asked = new URLSearchParams(location.search);
    this.wanted = Object.fromEntries(FIELDS.map((name) => [name, asked.get(name) ?? ""]));
    this.place = h("div");
    main.replaceChildren(h("h1", null, "Search"), this.place);
    this.prepare();
  }

  async prepare() {
    const { games, maps } = await ask("about");
    if (this.stopped) return;
    const { wanted } = this;
    const text = (name, label) => h("label", { class: "row" }, label, h("input", { name, value: wanted[name], maxlength: 128, autocomplete: "off" }));
    const choice = (name, label, options) => h("label", { class: "row" }, label, h("select", { name },
      [["", "any"], ...options].map(([value, words]) => h("option", { value, selected: value === wanted[name] }, words))));
    const results = [["won", "the bot won"], ["lost", "the bot lost"], ["maxie", "Maxie won"], ["minnie", "Minnie won"], ["drawn", "drawn"], ...Object.entries(REASONS)];
    const form = h("form", { class: "search-form", role: "search", onsubmit: (event) => this.submit(event) },
      text("bot", "Bot"), text("opponent", "Against"),
      choice("map", "Map", maps.map((each) => [each, each])), choice("game", "Game", games.map((each) => [each, GAME_NAMES[each] ?? each])),
      text("event", "Event"), choice("result", "Result", results),
      h("button", { class: "button" }, "Search"));
    const like = wanted.like && h("p", null, "With the opening of ", h("a", { href: to("match", wanted.like) }, "this match"), ".");
    const given = FIELDS.filter((name) => wanted[name]).map((name) => `${name}=${encodeURIComponent(wanted[name])}`);
    this.place.replaceChildren(...[form, like, new Paged(`search${given.length ? `?${given.join("&")}` : ""}`).element].filter(Boolean));
  }

  submit(event) {
    event.preventDefault();
    const given = [...new FormData(event.target)].filter(([, value]) => String(value).trim());
    go(`/search${given.length ? `?${new URLSearchParams(/** @type {any} */ (given.map(([name, value]) => [name, String(value).trim()])))}` : ""}`);
  }

  stop() {
    this.stopped = true;
  }
}
