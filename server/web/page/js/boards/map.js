// The picture of a Riskless map: Maxie's territories are blue circles, Minnie's orange squares, empty ones
// small rings. Colours are never the only sign.

import { askOnce } from "../api.js";
import { set, svg } from "../dom.js";
import { SEAT_NAMES } from "../text.js";
import { RADIUS, arrow, layOut, placeNames } from "./geometry.js";

const TINTS = 8;

export class MapBoard {
  // onSpot(v) is told of each territory that is clicked or chosen by key.
  constructor(game, onSpot) {
    this.game = game;
    this.onSpot = onSpot;
    this.element = svg("svg", { class: "map", role: "img" });
    this.draw({ continents: [], wraps: false });
    const name = game.setup.map;
    if (name && !name.includes(":")) {
      askOnce(`map/${encodeURIComponent(name)}`).then(
        (extra) => this.isSame(extra.setup) && this.draw(extra),
        () => null, // a map of somebody's own: it is drawn without continents
      );
    }
  }

  isSame(setup) {
    return JSON.stringify(setup.neighbours) === JSON.stringify(this.game.setup.neighbours);
  }

  draw({ continents, wraps }) {
    const { setup } = this.game;
    const layout = layOut(setup, wraps);
    this.layout = layout;
    set(this.element, { viewBox: `0 0 ${layout.width.toFixed(0)} ${layout.height.toFixed(0)}` });
    // On a small screen the picture may scroll, but does not shrink past reading.
    this.element.style.minWidth = `${(0.62 * layout.width).toFixed(0)}px`;
    this.element.style.maxWidth = `${(1.8 * layout.width).toFixed(0)}px`;
    const names = placeNames(setup.territories, layout);
    this.spots = layout.at.map((place, v) => this.spot(place, v));
    this.move = svg("path", { class: "move" });
    this.fight = svg("g", { class: "fight" });
    this.element.replaceChildren(
      ...continents.map(([, members], n) => this.tint(members, n)),
      ...layout.roads.flatMap(([v, w]) => layout.lines(v, w).map(([[x1, y1], [x2, y2]]) => svg("line", {
        class: "road", x1, y1, x2, y2,
      }))),
      this.move,
      ...names.map(([x, y], v) => svg("text", { class: "place", x, y }, setup.territories[v])),
      ...this.spots.map((spot) => spot.group),
      this.fight,
    );
    if (this.shown) this.show(...this.shown);
    if (this.marked) this.mark(this.marked);
  }

  tint(members, n) {
    const inside = this.layout.roads.filter(([v, w]) => members.includes(v) && members.includes(w));
    return svg("g", { class: `tint tint-${n % TINTS}` },
      inside.flatMap(([v, w]) => this.layout.lines(v, w).map(([[x1, y1], [x2, y2]]) => svg("line", { x1, y1, x2, y2 }))),
      members.map((v) => svg("circle", { cx: this.layout.at[v][0], cy: this.layout.at[v][1], r: 2.1 * RADIUS })));
  }

  spot([x, y], v) {
    const side = 1.8 * RADIUS;
    const number = svg("text", { class: "armies", x, y: y + 4.8 });
    const title = svg("title");
    const group = svg("g", { class: "spot", "data-spot": v },
      title,
      svg("circle", { class: "reach", cx: x, cy: y, r: RADIUS + 8 }),
      svg("circle", { class: "ring", cx: x, cy: y, r: RADIUS + 5 }),
      svg("circle", { class: "empty", cx: x, cy: y, r: 0.55 * RADIUS }),
      svg("circle", { class: "maxie", cx: x, cy: y, r: RADIUS }),
      svg("rect", { class: "minnie", x: x - side / 2, y: y - side / 2, width: side, height: side, rx: 3 }),
      number);
    group.addEventListener("click", () => this.onSpot(v));
    group.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      this.onSpot(v);
    });
    return { group, number, title };
  }

  // Show a position; `move` led to it from `before`, or both are null.
  show(position, move, before) {
    this.shown = [position, move, before];
    position.armies.forEach((n, v) => {
      const { group, number, title } = this.spots[v];
      const owner = n > 0 ? "maxie" : n < 0 ? "minnie" : "nobody";
      set(group, { "data-owner": owner });
      number.textContent = n ? Math.abs(n) : "";
      title.textContent = this.words(v, n);
    });
    this.showMove(move, before);
    const { maxie, minnie } = this.game.score(position);
    set(this.element, {
      "aria-label": `Map, ply ${position.ply}: Maxie has ${maxie.armies} armies on ${maxie.places} territories, `
        + `Minnie ${minnie.armies} on ${minnie.places}`,
    });
  }

  showMove(move, before) {
    this.fight.replaceChildren();
    set(this.move, { d: null });
    if (!move) return;
    const parts = this.layout.lines(...move);
    set(this.move, {
      d: parts.map((line, n) => arrow(line, n ? 0 : RADIUS, n === parts.length - 1 ? RADIUS + 4 : 0)).join(""),
      "data-owner": before.player,
    });
    this.keepInView(move[1]);
    const told = this.game.told(before, move);
    if (told.what !== "won" && told.what !== "lost") return;
    const [x, y] = this.layout.at[move[1]];
    const text = `${told.came} × ${told.stood}`;
    const width = 10 + text.length * 7;
    // Not where the arrow comes from.
    const from = parts[parts.length - 1][0];
    const above = from[1] > y - RADIUS || Math.abs(from[0] - x) > 2 * Math.abs(from[1] - y);
    const middle = above ? Math.max(10, y - RADIUS - 14) : Math.min(this.layout.height - 10, y + RADIUS + 14);
    this.fight.append(
      svg("rect", { x: x - width / 2, y: middle - 9, width, height: 18, rx: 9 }),
      svg("text", { x, y: middle + 4 }, text),
    );
  }

  // Where the picture is wider than its place, a move should not happen out of sight.
  keepInView(v) {
    const place = this.element.parentElement;
    if (!place || place.scrollWidth <= place.clientWidth) return;
    const x = (this.layout.at[v][0] / this.layout.width) * place.scrollWidth;
    const seen = x - place.scrollLeft;
    if (seen < 40 || seen > place.clientWidth - 40) place.scrollLeft = x - place.clientWidth / 2;
  }

  words(v, n) {
    const owner = n > 0 ? "maxie" : "minnie";
    return `${this.game.names[v]}: ${n ? `${SEAT_NAMES[owner]} ${Math.abs(n)}` : "empty"}`;
  }

  // What may be chosen now: `sources` and `targets` are sets, `selected` a number or null. null: nothing may.
  mark(marks) {
    this.marked = marks;
    set(this.element, { role: marks ? "group" : "img" });
    this.spots.forEach(({ group, title }, v) => {
      const source = marks?.sources.has(v);
      const target = marks?.targets.has(v);
      const said = `${title.textContent}${target ? ", legal target" : ""}${marks?.selected === v ? ", chosen" : ""}`;
      set(group, {
        "data-source": source, "data-target": target, "data-selected": marks?.selected === v,
        role: source || target ? "button" : null,
        tabindex: source || target ? 0 : null,
        "aria-label": source || target ? said : null,
      });
    });
  }

  // The position in words, territory by territory.
  inWords(position) {
    return position.armies.flatMap((n, v) => (n ? [this.words(v, n)] : []));
  }
}
