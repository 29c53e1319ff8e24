// A large board with a match chosen by the director: the players, the chances, the board, the story
// of the match, and its end.

import { makeBoard } from "../boards/index.js";
import { Director, requestFinished } from "../director.js";
import { capitalized, h, say, set, svg } from "../dom.js";
import { Declared } from "../games/declared.js";
import { describeMove, sentence, story, summary } from "../story.js";
import { SEATS, SIDES, botTitle, ending, gameTitle, isOfWords, watched, when } from "../text.js";
import { matchLink } from "../parts/matchlist.js";
import { LiveBadge } from "../parts/livebadge.js";
import { Scoreboard } from "../parts/scoreboard.js";

export class Stage {
  // begun() is called when a match begins to be shown, moved(id) when a move of a match is told, and when the match makes way; `taken` has the matches of other stages, with their maps; finished() returns the newest
  // finished matches, without a request of its own where the view has them; toggled() is called when the reader pauses the board or goes on.
  // `compact`: one of several boards, whose match is told in a few words; it has a button to pause if there is toggled().
  constructor({ begun = /** @type {() => void} */ (() => undefined), moved = /** @type {(id: string) => void} */ (() => undefined), taken = new Map(), finished = requestFinished, toggled = /** @type {(() => void) | null} */ (null), compact = false } = {}) {
    this.begun = begun;
    this.moved = moved;
    this.compact = compact;
    this.board = /** @type {any} */ (null);
    this.playback = /** @type {any} */ (null);
    this.told = 0; // ply of the move that was told last
    this.director = new Director(this, { taken, finished });
    this.game = h("span", null, "Loading…");
    this.more = h("span", { class: "more-of-kind" }); // for which a phone has no room
    this.badge = new LiveBadge(compact ? null : () => this.playback.jump(), { replays: true });
    this.title = h("h2", { class: "stage-title" }, this.badge.element, h("span", { class: "kind" }, this.game, this.more));
    this.scoreboard = new Scoreboard({ title: compact ? null : this.title, compact });
    this.place = h("div", { class: "stage-place", "aria-hidden": "true" }); // the scoreboard and the words tell as much
    this.name = h("span", { class: "unseen" });
    this.link = h("a", { class: "stage-board" }, this.name, this.place); // without an address for a match that has none
    this.words = h("p", { class: "story" });
    this.owner = compact ? h("p", { class: "unseen" }) : null; // whose a small board's words are, which to the eye a shape tells
    this.goal = compact ? h("p", { class: "goal" }) : null; // beside the map, where the scoreboard has no room for it
    this.latest = h("p", { class: "latest" });
    this.moves = compact ? h("ol", { class: "latest-moves", "aria-label": "Latest moves" }) : null; // beside the map of a wide window
    const told = h("div", { class: "words-of" }, compact ? this.title : null, this.owner, this.words, this.goal, this.moves, this.latest);
    this.pause = compact && !toggled ? null : h("button", { type: "button", onclick: () => {
      this.toggle();
      toggled?.();
    } });
    this.actions = compact ? null : h("div", { class: "stage-actions" }, this.pause,
      h("button", { type: "button", onclick: () => this.director.next(), ...named("Next match") }, icon(NEXT)));
    this.element = h("section", { class: compact ? "stage minor" : "stage" }, this.scoreboard.element, this.link, this.actions, told);
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

  // Return true if this match is shown, live or not, or was shown last.
  has(id) {
    return this.playback?.match.id === id;
  }

  // Return true if this match is shown live, and not to its end yet.
  follows(id) {
    return this.isLive && this.has(id);
  }

  begin(match, playback) {
    const before = this.playback?.match.id;
    this.playback = playback;
    this.board = makeBoard(match.game, () => null, { whole: true });
    set(this.place, { inert: this.compact || !this.board.zoom }); // a board without a map has buttons
    this.place.replaceChildren(this.board.element);
    this.board.zoom?.fit(); // at once, and not in the next frame, which has enough to do
    const known = match.event !== "demo"; // the page's own example has no address
    set(this.link, { href: known && matchLink(match.id) });
    say(this.name, known ? `Open match: ${paired(match.players)}` : "");
    if (match.game instanceof Declared) match.game.addEventListener("known", () => this.playback === playback && this.again());
    this.changed();
    if (before) this.moved(before);
    this.begun();
  }

  show(ply) {
    const { match } = this.playback;
    this.board.show(...match.scene(ply));
    this.changed();
  }

  // Show the same ply again, in as many words as there is room for now.
  again() {
    if (this.playback) this.show(this.playback.at);
  }

  // Show whether playback continues by itself, and the progress of the match.
  changed() {
    set(this.element, { hidden: this.director.idle });
    if (this.pause) this.showPause();
    if (this.playback) this.tell(this.playback.at);
  }

  tell(ply) {
    const { match, live } = this.playback;
    const at = Math.min(ply, match.moves.length); // the move may have been taken back
    const isOver = match.endsAt(at);
    this.told = at;
    const { following, continents } = this.director;
    this.scoreboard.show(match, at, { ratings: this.director.ratings });
    const ended = isOver ? { words: ending(match)[0], seat: match.end.winner } : null;
    const { words, seat } = this.compact ? summary(match, at) : ended ?? sentence(match, story(match, continents, at), at);
    if (this.owner) say(this.owner, seat ? match.players[seat] : "");
    say(this.words, words);
    set(this.words, { "data-owner": seat });
    const { armies_to_win: goal } = match.setup;
    if (this.goal) say(this.goal, goal ? `First to ${goal}` : "");
    const over = isOver && [capitalized(ending(match)[1]), following && `Next: ${paired(following.players)}`];
    say(this.latest, over ? over.filter(Boolean).join(" · ") : !at ? "" : this.compact ? `Move ${at}` : describeMove(match, at));
    set(this.latest, { "data-over": isOver });
    if (this.moves) this.moves.replaceChildren(...this.latestMoves(match, at));
    this.badge.show(this.playback, at);
    const game = gameTitle(match.gameName, match.setup.map);
    const time = match.started && match.event !== "demo" && !this.compact ? when(match.started) : "";
    const more = live ? watched(match) : this.director.offered.length ? time : "no live match now";
    say(this.game, game);
    say(this.more, more && ` · ${more}`);
    this.moved(match.id);
  }

  // Return the latest moves of a small board, the last one first: each is the event that it was, or the territories.
  latestMoves(match, at) {
    const events = new Map(story(match, this.director.continents, at).filter(({ end }) => !end).map((each) => [each.ply, each]));
    const row = (ply, seat, words, isEvent) => h("li", { "data-owner": seat, "data-event": isEvent },
      h("span", { class: "number" }, ply), h("span", { class: "shape", role: "img", "aria-label": `${SIDES[seat]}:` }), h("span", null, words));
    return Array.from({ length: Math.min(at, LATEST_MOVES) }, (_, n) => at - n).map((ply) => {
      const event = events.get(ply);
      return event ? row(ply, event.seat, event.words, true) : row(ply, match.seatOf(ply - 1), this.places(match, match.moves[ply - 1].move), false);
    });
  }

  // Return the text of a move, with an element for each of its territories, whose short name of some words is written instead.
  places({ game }, move) {
    const { shortNames } = this.director;
    return game.text(move).split(" → ").flatMap((name, n) => {
      const short = shortNames[game.names?.indexOf(name)];
      return [n ? " " : null, h("span", { class: "place-of", title: name }, `${n ? "→ " : ""}${isOfWords(short) ? short : name}`)];
    });
  }

  // The button that pauses the board, or goes on.
  showPause() {
    const name = this.director.running ? "Pause" : "Play";
    if (this.pause.ariaLabel === name) return;
    set(this.pause, named(name)).replaceChildren(icon(this.director.running ? PAUSE : PLAY));
  }

  stop() {
    this.director.stop();
    this.playback = null;
  }
}

const LATEST_MOVES = 12; // that a small board lists

const [PLAY, PAUSE, NEXT] = ["M7 4l13 8-13 8Z", "M8 5v14M16 5v14", "M5 5l10 7-10 7ZM19 5v14"];
const named = (name) => ({ "aria-label": name, title: name });
export const icon = (path) => svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: path }));
const paired = (players) => SEATS.map((seat) => botTitle(players[seat])).join(" v ");
