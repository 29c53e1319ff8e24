// Arena TV: the most interesting matches, on one board, or on a large one and three small ones.

import { h } from "../dom.js";
import { LiveCards } from "../home/livecards.js";
import { Stage } from "../home/stage.js";
import { onListing } from "../spectator.js";
import { fetchJson } from "../api.js";

export class TvView {
  constructor(main, [boards]) {
    const count = boards === "4" ? 4 : 1;
    const taken = new Map();
    const toggled = () => this.stages.slice(1).forEach((each) => each.toggle()); // all are paused together
    this.stages = Array.from({ length: count }, (_, n) => new Stage({ taken, moved: (id) => this.live.drawAgain(id), toggled, compact: n > 0 }));
    const choice = (address, text, chosen) => h("a", { class: "button plain small", href: address, "aria-current": chosen ? "page" : null }, text);
    this.live = new LiveCards({ plyOnStage: (id) => this.stages.map((each) => each.plyOf(id)).find((ply) => ply !== null) ?? null });
    main.replaceChildren(
      h("div", { class: "tv-head" }, h("h1", null, "Arena TV"),
        h("div", { class: "tabs", role: "group", "aria-label": "Boards" }, choice("/tv", "1 board", count === 1), choice("/tv/4", "4 boards", count === 4))),
      h("div", { class: "tv", "data-boards": count }, this.stages.map((each) => each.element)),
      h("section", { class: "tv-others" }, h("h2", null, "All live matches"), this.live.element));
    this.unlist = onListing((listing) => {
      this.stages.forEach((each) => each.offer(listing));
      this.live.show(listing.matches);
    });
    this.rate();
  }

  async rate() {
    try {
      const { standings } = await fetchJson("table");
      for (const each of this.stages) each.director.rate(standings);
    } catch {
      return; // then all bots count as equally strong
    }
  }

  stop() {
    this.unlist();
    for (const each of this.stages) each.stop();
    this.live.stop();
  }
}
