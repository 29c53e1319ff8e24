// Arena TV: the most interesting matches, on one board with its land, its curve and its moves, or on four.

import { h, set } from "../dom.js";
import { LiveCards } from "../home/livecards.js";
import { Stage } from "../home/stage.js";
import { LandBars } from "../parts/landbars.js";
import { matchLink } from "../parts/matchlist.js";
import { meeting } from "../parts/meeting.js";
import { MoveList } from "../parts/movelist.js";
import { Plot } from "../parts/plot.js";
import { navigate } from "../router.js";
import { onLobbyListing } from "../spectator.js";
import { keyMoments } from "../story.js";
import { fetchJson } from "../api.js";

const NO_REVIEW = { mark: () => "" };

export class TvView {
  constructor(main, [boards]) {
    const count = boards === "4" ? 4 : 1;
    const taken = new Map();
    const toggled = () => this.stages.slice(1).forEach((each) => each.toggle()); // all are paused together
    this.stages = Array.from({ length: count }, (_, n) => new Stage({ taken, begun: () => this.begin(), moved: (id) => this.moved(id), toggled: n ? null : toggled, compact: count === 4 }));
    const choice = (address, text, chosen) => h("a", { class: "button plain small", href: address, "aria-current": chosen ? "page" : null }, text);
    this.live = new LiveCards({ isOnStage: (id) => this.stages.some((each) => each.has(id)) });
    // The land, the curve and the moves of the one board, where the window has room for them.
    this.aside = count === 1 ? h("div", { class: "tv-aside" }) : null;
    this.land = /** @type {any} */ (null);
    this.plot = /** @type {any} */ (null);
    this.moves = /** @type {any} */ (null);
    this.soFar = /** @type {any} */ (null); // the moves, and below them the players
    this.table = /** @type {any} */ (null); // the standings and the scores between bots
    if (this.aside) this.stages[0].element.append(this.aside);
    main.replaceChildren(
      h("div", { class: "tv-head" }, h("h1", null, "Arena TV"), count === 4 ? this.stages[0].pause : null,
        h("div", { class: "tabs", role: "group", "aria-label": "Boards" }, choice("/tv", "1 board", count === 1), choice("/tv/4", "4 boards", count === 4))),
      h("div", { class: "tv", "data-boards": count }, this.stages.map((each) => each.element)),
      h("section", { class: "tv-others" }, h("h2", null, "Other matches"), this.live.element));
    this.unlist = onLobbyListing((listing) => {
      this.stages.forEach((each) => each.offer(listing));
      this.live.show(listing.matches);
    });
    this.rate();
  }

  begin() {
    if (!this.aside) return;
    const { match } = this.stages[0].playback;
    const link = (ply) => `${matchLink(match.id)}/${ply}`;
    const open = (ply) => this.stages[0].link.hasAttribute("href") && navigate(link(ply));
    this.plot = new Plot(match, { go: open });
    this.moves = new MoveList(match, link, NO_REVIEW);
    this.land = new LandBars();
    this.soFar = h("div", { class: "so-far" });
    this.aside.replaceChildren(this.land.element, this.plot.element, this.soFar);
    this.introduce();
    set(this.aside, { inert: match.event === "demo" }); // the page's own example has no address that its moves could lead to
  }

  // Show what is known of the players below the moves, as long as these leave room for it.
  introduce() {
    if (this.moves) this.soFar.replaceChildren(this.moves.element, ...meeting(this.moves.match, this.table));
  }

  moved(id) {
    this.live.restage(id);
    const { playback, told, director } = this.stages[0];
    if (!this.aside || this.plot?.match !== playback.match) return;
    const { match, atOnce } = playback;
    this.land.show(match, director.continents, told);
    this.plot.show({ at: told, seen: told, known: told, end: null, atOnce }, keyMoments(match, director.continents, told));
    this.moves.show(told, told);
  }

  async rate() {
    try {
      this.table = await fetchJson("table");
      for (const each of this.stages) each.director.rate(this.table.standings);
      this.introduce();
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
