// The start page: a board with a running match, small live boards, the best bots, opponents that are online,
// and recent matches. docs/page.md describes the purpose of each part.

import { addressOf } from "../router.js";
import { fetchJson } from "../api.js";
import { h, say, set } from "../dom.js";
import { standingsNow } from "../home/leaders.js";
import { LiveCards } from "../home/livecards.js";
import { Primer } from "../home/primer.js";
import { Stage, icon } from "../home/stage.js";
import { keyed } from "../parts/keyed.js";
import { byDay } from "../parts/matchlist.js";
import { showRules } from "../parts/rules.js";
import { onLobbyListing } from "../spectator.js";
import { botTitle, presence } from "../text.js";

const PAGE = 12;
const QUIET_MS = 1200; // from the last change of the listing to the next request to the store
const BUSY_MS = 6000; // the same from the first change, if the listing changes all the time

const WIDE = matchMedia("(min-width: 60.01rem)"); // one small board leaves room for the rules there,
const HIGH = matchMedia("(min-width: 60.01rem) and (min-height: 56rem)"); // and here two

export class Home {
  constructor(main) {
    // The content from the server stays until a match moves.
    const first = main.querySelector(".stage.first");
    this.goal = main.querySelector(".pitch strong") ?? h("strong", null, "the goal");
    this.stage = new Stage({ begun: () => this.begun(first), moved: (id) => this.moved(id), finished: () => this.loading });
    this.stage.actions.append(h("a", { class: "button plain", href: "/tv/4", "aria-label": "Four boards", title: "Four boards" }, icon("M4 4h6v6H4ZM14 4h6v6h-6ZM4 14h6v6H4ZM14 14h6v6h-6Z")));
    this.primer = new Primer();
    this.live = new LiveCards({ isOnStage: (id) => this.stage.has(id), changed: () => this.count() });
    this.leading = h("div", { class: "leading" });
    this.bots = h("ul", { class: "bots" });
    this.nobody = h("p", { class: "quiet", hidden: true }, "No bot is connected.");
    this.past = h("div", { class: "past" });
    this.matches = /** @type {any[]} */ ([]);
    this.held = /** @type {string | null} */ (null); // id of a finished match whose end the large board has not shown yet
    this.counted = h("span", { class: "badge" }, "…");
    this.heading = h("p", { class: "quiet" }, this.counted);
    this.now = h("h2", null, "Other matches");
    this.wall = h("section", { class: "wall" }, this.now, this.heading, this.live.element);
    this.against = h("section", { class: "panel against", "aria-label": "Play against" }, h("h2", null, "Play against"), this.nobody, this.bots);
    this.below = h("div", { class: "below" }, this.primer.element, this.leading, this.against);
    this.more = h("button", { type: "button", hidden: true, onclick: () => this.load() }, "Load older matches");
    this.fault = h("p", { class: "fault", role: "alert" });
    main.replaceChildren(
      h("div", { class: "pitch" }, h("h1", null, h("span", null, "Bots fight over maps, live."), " ", h("span", null, "Can you beat one?")),
        h("p", null, h("span", null, "A war game without dice: ", h("span", null, "take land, and "), "be first to ", this.goal, "."), " ", h("button", { type: "button", class: "small", onclick: () => showRules() }, "How it works")),
        h("a", { class: "button big", href: "/play" }, "Play against a bot")),
      h("div", { class: "hero" }, first ?? this.stage.element, this.wall),
      this.below,
      h("section", null, h("div", { class: "stage-head" }, h("h2", null, "Finished"), h("a", { class: "button plain small", href: "/search" }, "All matches")), this.past, this.fault, this.more,
        h("p", { class: "quiet" }, "Have a record file? Drop it anywhere on this page, or ", h("a", { href: "/file" }, "open it"), ".")));
    this.next = "";
    this.ids = /** @type {string[] | null} */ (null); // of the matches in progress
    this.several = false; // true while their cards are shown
    this.ended = false; // true if a match has ended since the last request for finished matches
    this.changedAt = /** @type {number | null} */ (null); // of the first change since the last request
    this.loading = this.load();
    this.unlist = onLobbyListing((listing) => this.show(listing));
  }

  // The large board has begun to show a match.
  begun(first) {
    first?.replaceWith(this.stage.element);
    const goal = this.stage.playback?.match.setup.armies_to_win;
    say(this.goal, goal ? `${goal} armies` : "the goal"); // on a phone in one line
  }

  show(listing) {
    const { matches, bots } = listing;
    const ids = matches.map((each) => each.match);
    const first = this.ids === null;
    this.ended ||= Boolean(this.ids?.some((id) => !ids.includes(id)));
    this.stage.offer(listing);
    this.live.show(matches);
    if (first || ids.join() !== this.ids?.join()) this.reload(matches, first ? 0 : QUIET_MS);
    this.ids = ids;
    this.count();
    keyed(this.bots, bots, { key: ({ name }) => name, words: JSON.stringify, make: (bot) => this.bot(bot) });
    set(this.nobody, { hidden: bots.length > 0 });
  }

  // Count the other live matches. The rules stand beside the large board if there
  // is room, and the opponents in the place of the cards. The cards come with a second match, or while the large board replays a match,
  // and stay while there are any: where one match follows the other, nothing moves.
  count() {
    const { size } = this.live.cards;
    this.several = (this.several || (this.ids?.length ?? 0) > 1 || this.stage.playback?.live === false) && size > 0;
    const boards = this.several ? size : 0;
    const live = [...this.live.cards.keys()].filter((id) => this.ids?.includes(id)).length;
    say(this.counted, live ? `${live} live` : "");
    set(this.counted, { hidden: !live });
    for (const each of [this.now, this.heading, this.live.element]) set(each, { hidden: !boards });
    const { element } = this.primer;
    const room = WIDE.matches && boards <= (HIGH.matches ? 2 : 1);
    if (room && mayMove(element, this.wall)) this.wall.append(element);
    else if (!room && mayMove(element, this.below)) this.below.prepend(element);
    if (boards && mayMove(this.against, this.below)) this.below.append(this.against);
    else if (!boards && mayMove(this.against, this.wall)) this.live.element.after(this.against);
  }

  bot(bot) {
    const { name } = bot;
    return h("li", null,
      h("a", { class: "name", href: addressOf("bot", name), title: name }, botTitle(name)),
      h("span", { class: "quiet" }, presence(bot)),
      h("a", { class: "button plain small", href: addressOf("play", name), "aria-label": `Play against ${botTitle(name)}` }, "Play"));
  }

  // The store's data has changed, or will change in a moment.
  reload(matches, ms) {
    clearTimeout(this.reloading);
    this.changedAt ??= performance.now();
    const longest = this.changedAt + BUSY_MS - performance.now();
    this.reloading = setTimeout(() => {
      this.changedAt = null;
      this.lead(matches);
      if (!this.ended || this.matches.length > PAGE) return;
      this.ended = false;
      this.next = "";
      this.loading = this.load(true);
    }, Math.max(0, Math.min(ms, longest)));
  }

  async lead(matches) {
    try {
      const rated = await fetchJson("table");
      this.stage.director.rate(rated.standings);
      this.leading.replaceChildren(...await standingsNow(matches, rated));
      say(this.fault, "");
    } catch (error) {
      say(this.fault, error.message);
    }
  }

  // Show more finished matches, or the newest ones `anew`, and return all that are shown.
  async load(anew = false) {
    try {
      const { matches, next } = await fetchJson(`records?limit=${PAGE}${this.next ? `&before=${encodeURIComponent(this.next)}` : ""}`);
      this.matches = anew ? matches : [...this.matches, ...matches];
      this.showPast();
      this.next = next;
      this.more.hidden = !next;
      say(this.fault, "");
    } catch (error) {
      say(this.fault, error.message);
    }
    return this.matches;
  }

  // Show the finished matches, but not the result of one whose end the large board has still to show.
  showPast() {
    const [told, held] = [true, false].map((ended) => this.matches.filter(({ match }) => this.stage.follows(match) !== ended));
    this.held = held[0]?.match ?? null;
    this.past.replaceChildren(...(told.length ? byDay(told) : [h("p", { class: "quiet" }, "No match has finished yet.")]));
  }

  // The large board has shown another ply of a match, or another match.
  moved(id) {
    this.live.restage(id);
    this.count();
    if (id === this.held && !this.stage.follows(id)) this.showPast();
  }

  stop() {
    clearTimeout(this.reloading);
    this.unlist();
    this.stage.stop();
    this.primer.stop();
    this.live.stop();
  }
}

// Return whether to move a section to another place. A section with the focus stays, because it would lose the focus.
function mayMove(section, place) {
  return !place.contains(section) && !section.contains(document.activeElement);
}
