// Who holds how much of the land: of the whole map and of each continent. Each territory trains an army a move, so land decides a match.

import { h, say, set, svg } from "../dom.js";
import { SEATS, SIDES } from "../text.js";

export class LandBars {
  constructor() {
    this.parts = /** @type {any[]} */ ([]); // [name, territories] of each bar
    this.bars = /** @type {any[]} */ ([]); // { item, counts, rects } of each bar
    this.continents = /** @type {any} */ (null); // those that the bars show
    this.list = h("div", { class: "lands" });
    this.element = h("section", { class: "land-bars", hidden: true, "aria-label": "Land" },
      h("p", { class: "quiet" }, "Each territory trains one army a move."), this.list);
  }

  // Show who holds what at a ply of a match. `continents` are [name, territories] as a map has them.
  show(match, continents, ply) {
    const { names, score } = match.game;
    set(this.element, { hidden: !names || !score });
    if (this.element.hidden) return;
    if (this.continents !== continents) this.layOut(continents, names.length);
    const { armies } = match.positions[ply];
    this.parts.forEach(([name, members], n) => {
      const held = { maxie: members.filter((v) => armies[v] > 0).length, minnie: members.filter((v) => armies[v] < 0).length };
      const { item, counts, rects } = this.bars[n];
      SEATS.forEach((seat, k) => {
        say(counts[k], String(held[seat]));
        set(rects[k], { width: held[seat], x: seat === "maxie" ? 0 : members.length - held.minnie });
      });
      set(item, { "aria-label": `${name}: ${SEATS.map((seat) => `${SIDES[seat]} ${held[seat]}`).join(", ")} of ${members.length}` });
    });
  }

  layOut(continents, size) {
    this.continents = continents;
    this.parts = [["Territories", Array.from({ length: size }, (_, v) => v)], ...continents.filter(([, members]) => members.length > 1)];
    this.bars = this.parts.map(([name, members]) => {
      const counts = SEATS.map((seat) => h("span", { "data-owner": seat }));
      const rects = SEATS.map((seat) => svg("rect", { class: seat, height: 1 }));
      const bar = svg("svg", { viewBox: `0 0 ${members.length} 1`, preserveAspectRatio: "none" }, rects);
      return { item: h("div", { role: "img" }, h("span", { class: "line" }, name), counts[0], bar, counts[1]), counts, rects };
    });
    this.list.replaceChildren(...this.bars.map(({ item }) => item));
  }
}
