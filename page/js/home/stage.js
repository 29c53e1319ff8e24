// A large board with a match chosen by the director: the players, the leader, the board, the story of
// the match, and its end.

import { makeBoard } from "../boards/index.js";
import { Director, requestFinished } from "../director.js";
import { capitalized, h, say, set } from "../dom.js";
import { Declared } from "../games/declared.js";
import { describeMove, sentence, story, summary } from "../story.js";
import { SEATS, botTitle, ending, gameTitle, watched, when } from "../text.js";
import { matchLink } from "../parts/matchlist.js";
import { LiveBadge } from "../parts/livebadge.js";
import { Scoreboard } from "../parts/scoreboard.js";

export class Stage {
  // begun() is called when a match begins to be shown, moved(id) after each ply of a match, and when the match makes way; `taken` has the matches of other stages, with their maps; finished() returns the newest
  // finished matches, without a request of its own where the view has them; toggled() is called when the reader pauses the board or goes on.
  // `compact`: a small board, which opens its match by a press.
  constructor({ begun = /** @type {() => void} */ (() => undefined), moved = /** @type {(id: string) => void} */ (() => undefined), taken = new Map(), finished = requestFinished, toggled = /** @type {() => void} */ (() => undefined), compact = false } = {}) {
    this.begun = begun;
    this.moved = moved;
    this.compact = compact;
    this.board = /** @type {any} */ (null);
    this.playback = /** @type {any} */ (null);
    this.director = new Director(this, { taken, finished });
    this.kind = h("span", { class: "kind" }, "Loading…");
    this.badge = new LiveBadge(compact ? null : () => this.playback.jump());
    const title = h("h2", { class: "stage-title" }, this.badge.element, this.kind);
    this.scoreboard = new Scoreboard({ title: compact ? null : title, compact });
    this.place = h("div", { class: "stage-place", inert: compact, "aria-hidden": compact && "true" }); // the board of a link is only looked at
    this.link = compact ? h("a", { class: "stage-board" }, this.place) : h("a", { class: "button plain small" }, "Open match");
    this.words = h("p", { class: "story" });
    this.owner = compact ? h("p", { class: "unseen" }) : null; // whose a small board's words are, which to the eye a shape tells
    this.latest = h("p", { class: "latest" });
    const told = h("div", { class: "words-of" }, this.owner, this.words, this.latest);
    this.pause = compact ? null : button("", () => {
      this.toggle();
      toggled();
    });
    this.element = h("section", { class: compact ? "stage minor" : "stage" }, this.scoreboard.element, compact
      ? [this.link, told, title]
      : [h("div", { class: "stage-board", onclick: () => this.element.closest("[data-boards='4']") && this.link.hasAttribute("href") && this.link.click() }, this.place), h("div", { class: "telling-of" }, told,
        h("div", { class: "stage-actions" }, this.pause, button("Next match", () => this.director.next()), this.link))]);
    this.changed();
  }

  // Handle the matches in progress and the connected bots of a listing.
  offer(listing) {
    this.director.offer(listing);
  }

  toggle() {
    this.director.toggle();
    this.changed();
  }

  // Return true if a live match is shown that was not shown to its end.
  get isLive() {
    return Boolean(this.playback?.live) && !this.playback.isOver;
  }

  // Return the ply of a live match that is shown, unless it was shown to its end; null for another match.
  plyOf(id) {
    return this.isLive && this.playback.match.id === id ? this.playback.at : null;
  }

  begin(match, playback) {
    const before = this.playback?.match.id;
    this.playback = playback;
    this.board = makeBoard(match.game, () => null, { whole: true });
    this.place.replaceChildren(this.board.element);
    this.board.zoom?.fit(); // at once, and not in the next frame, which has enough to do
    const known = match.event !== "demo"; // the page's own example has no address
    set(this.link, { href: known && matchLink(match.id), title: known && `Open match: ${paired(match.players)}` });
    if (match.game instanceof Declared) match.game.addEventListener("known", () => this.playback === playback && this.show(playback.at));
    this.changed();
    if (before) this.moved(before);
    this.begun();
  }

  show(ply) {
    const { playback: { match }, director } = this;
    this.board.show(match.positions[ply], ply ? match.moves[ply - 1].move : null, ply ? match.positions[ply - 1] : null);
    this.scoreboard.show(match, ply);
    const { head = "", words, seat } = this.compact ? summary(match, ply) : sentence(match, story(match, director.continents, ply), ply);
    const { isOver } = this.playback;
    if (this.owner) say(this.owner, isOver || !seat ? "" : match.players[seat]);
    say(this.words, isOver ? ending(match)[0] : `${head}${words}`);
    set(this.words, { "data-owner": isOver ? match.end.winner : seat });
    this.changed();
    this.moved(match.id);
  }

  // Show the progress of the match, and whether playback continues by itself.
  changed() {
    set(this.element, { hidden: this.director.idle });
    if (this.pause) say(this.pause, this.director.running ? "Pause" : "Play");
    if (!this.playback) return;
    const { match, live, at, isOver } = this.playback;
    const { following } = this.director;
    const over = isOver && [capitalized(ending(match)[1]), following && `Next: ${paired(following.players)}`];
    say(this.latest, over ? over.filter(Boolean).join(" · ") : at ? describeMove(match, at) : "");
    this.badge.show(this.playback);
    const game = gameTitle(match.gameName, match.setup.map);
    const time = match.started && match.event !== "demo" && !this.compact ? when(match.started) : "";
    say(this.kind, (live ? [game, watched(match)] : ["Replay", game, time]).filter(Boolean).join(" · "));
  }

  stop() {
    this.director.stop();
  }
}

const button = (text, onclick) => h("button", { type: "button", class: "small", onclick }, text);
const paired = (players) => SEATS.map((seat) => botTitle(players[seat])).join(" v ");
