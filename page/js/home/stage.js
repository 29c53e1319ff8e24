// A large board with a match chosen by the director: the players, the leader, the board, the story of
// the match, and its end.

import { makeBoard } from "../boards/index.js";
import { Director, requestFinished } from "../director.js";
import { h, say, set } from "../dom.js";
import { Declared } from "../games/declared.js";
import { describeMove, sentence, story } from "../story.js";
import { SEATS, botTitle, gameTitle, watched, when } from "../text.js";
import { matchLink } from "../parts/matchlist.js";
import { GameOver } from "../parts/gameover.js";
import { EvalBar } from "../parts/evalbar.js";
import { LiveBadge } from "../parts/livebadge.js";

export class Stage {
  // begun() is called when the first match is shown, moved(id) after each ply of a match, and when the match makes way; `taken` contains the matches of other stages; finished() returns the newest
  // finished matches, without a request of its own where the view has them. `compact`: the controls are in a menu, and the view pauses.
  constructor({ begun = /** @type {() => void} */ (() => undefined), moved = /** @type {(id: string) => void} */ (() => undefined), taken = new Set(), finished = requestFinished, compact = false } = {}) {
    this.begun = begun;
    this.moved = moved;
    this.board = /** @type {any} */ (null);
    this.playback = /** @type {any} */ (null);
    this.told = /** @type {any[]} */ ([]);
    this.director = new Director(this, { taken, finished });
    this.kind = h("span", { class: "kind" }, "Loading…");
    this.badge = new LiveBadge(() => this.playback.jump());
    this.link = h("a", { class: "button plain small", href: "/", hidden: true }, "Open match");
    this.pause = h("button", { type: "button", class: "small", onclick: () => this.toggle() }, "");
    this.skip = h("button", { type: "button", class: "small", onclick: () => this.director.next() }, "Next match");
    this.tug = new EvalBar({ wide: true, title: h("h2", { class: "stage-title" }, this.badge.element, this.kind) });
    this.place = h("div", { class: "stage-place" });
    this.finale = new GameOver();
    this.coming = h("p", { class: "quiet" }, "\u00a0"); // as high as its words
    this.finale.element.firstElementChild?.append(this.coming);
    this.words = h("p", { class: "story" });
    this.latest = h("p", { class: "latest" });
    this.element = h("section", { class: "stage" },
      this.tug.element,
      h("div", { class: "stage-board" }, this.place, this.finale.element),
      h("div", { class: "telling-of" }, h("div", { class: "words-of" }, this.words, this.latest), compact ? this.menu() : this.actions(this.pause)));
    this.changed();
  }

  // Return the buttons below the board. The one that comes and goes is last, so it moves no other.
  actions(...more) {
    return h("div", { class: "stage-actions" }, more, this.skip, this.link, this.badge.jump);
  }

  menu() {
    const element = h("details", { class: "stage-menu", name: "stage-menu" }, h("summary", { class: "button plain small", "aria-label": "More", title: "More" }, "…"), this.actions());
    element.addEventListener("click", (event) => {
      if (/** @type {any} */ (event.target).closest(".stage-actions")) element.open = false;
    });
    return element;
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
    this.told = [];
    set(this.link, { hidden: match.event === "demo", href: matchLink(match.id) });
    if (match.game instanceof Declared) match.game.addEventListener("known", () => this.playback === playback && this.show(playback.at));
    this.changed();
    if (before) this.moved(before);
    this.begun();
  }

  show(ply) {
    const { playback: { match }, director } = this;
    this.board.show(match.positions[ply], ply ? match.moves[ply - 1].move : null, ply ? match.positions[ply - 1] : null);
    this.tug.show(match, ply);
    this.told = story(match, director.continents, ply);
    const { words, seat } = sentence(match, this.told, ply);
    const { isOver } = this.playback; // then the end is told over the board
    say(this.words, isOver ? "" : words);
    set(this.words, { "data-owner": isOver ? null : seat });
    say(this.latest, ply ? describeMove(match, ply) : "");
    this.finale.show(match, isOver);
    this.changed();
    this.moved(match.id);
  }

  // Show the progress of the match, and whether playback continues by itself.
  changed() {
    set(this.element, { hidden: this.director.idle });
    const { following } = this.director;
    say(this.coming, following ? `Next: ${SEATS.map((seat) => botTitle(following.players[seat])).join(" v ")}` : "\u00a0");
    say(this.pause, this.director.running ? "Pause" : "Play");
    if (!this.playback) return;
    const { match, live } = this.playback;
    this.badge.show(this.playback);
    const game = gameTitle(match.gameName, match.setup.map);
    const time = match.started && match.event !== "demo" ? when(match.started) : "";
    say(this.kind, live ? `${game}${watched(match)}` : ["Replay", game, time].filter(Boolean).join(" · "));
  }

  stop() {
    this.director.stop();
  }
}
