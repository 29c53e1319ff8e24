// A match on the page: board, players, story, moves, values, and the way through its plies.

import { hasChances } from "../chances.js";
import { makeBoard } from "../boards/index.js";
import { loadMapData } from "../boards/mapdata.js";
import { spans } from "../boards/zoom.js";
import { isStill } from "../preferences.js";
import { capitalized, h, parts, say, set, svg } from "../dom.js";
import { Declared } from "../games/declared.js";
import { Playback, SPEEDS } from "../playback.js";
import { describeMove, keyMoments, nextMoment, playerSentence, sentence, story } from "../story.js";
import { SIDES, dateOf, ending, eventTitle, explained, gameTitle, watched } from "../text.js";
import { EngineDetails } from "./enginedetails.js";
import { Explorer } from "./explorer.js";
import { KeyList, keyAction } from "./keys.js";
import { LiveBadge } from "./livebadge.js";
import { MoveList } from "./movelist.js";
import { Openings } from "./openings.js";
import { Picker } from "./picker.js";
import { Plot } from "./plot.js";
import { Review } from "./review.js";
import { Scoreboard } from "./scoreboard.js";
import { sound } from "./sound.js";
import { Tabs } from "./tabs.js";

const [OPENINGS_TAB, ENGINES_TAB, WORDS_TAB] = [1, 2, 3]; // places among the tabs
const FOLLOWED = 4; // latest moves that a phone's map keeps in sight
const MARK_WIDTH = 25; // pixels between marks, one more than a target needs, because places are rounded

export class Viewer {
  // link(ply) is the address of a ply; `went(ply)` is told where the reader goes, null for where the match plays by itself.
  // A person who plays one seat sees each move at once, and hears it without seeing the board. `whole`: all of a map is in sight.
  // `reviewed`: what the server may review, the "stored" match or its "moves". `picked` is called after each choice on the board,
  // and `ended` when the reader may know the end of the match.
  constructor(match, { link, whole = false, reviewed = "", went = /** @type {(ply: number | null) => void} */ (() => undefined), live = false, seat = /** @type {string | null} */ (null), picked = /** @type {() => void} */ (() => undefined), ended = /** @type {() => void} */ (() => undefined) }) {
    this.match = match;
    this.went = went;
    this.picked = picked;
    this.ended = ended;
    this.over = false; // the reader knows the end
    this.stopped = false;
    this.whole = whole;
    this.live = live;
    this.seat = seat;
    this.message = ""; // what is said in the place of the match's state
    this.alarm = false;
    this.due = undefined;
    this.heard = NaN; // the ply that was shown last
    this.scoreboard = /** @type {any} */ (null);
    this.tabs = /** @type {any} */ (null);
    this.truth = null; // of each move, on a solved map
    this.continents = /** @type {any[]} */ ([]);
    this.moments = /** @type {any[]} */ ([]);
    this.marked = "";
    this.momentsOf = "";
    this.trackWidth = 0;
    this.board = /** @type {any} */ (makeBoard(match.game, (n) => this.spot(n), { whole, seat }));
    this.picker = new Picker(this.board);
    this.review = new Review(match, { changed: (ply) => this.showReview(ply), go: (ply) => this.go(ply), of: reviewed });
    this.explorer = new Explorer(match, this.board, () => this.refresh(), this.review);
    this.openings = new Openings(match, (move) => this.explorer.tryMove(move), () => this.refreshSoon());
    this.engines = new EngineDetails(match);
    this.moves = new MoveList(match, link, this.review);
    this.moves.element.addEventListener("click", () => this.reveal());
    this.plot = new Plot(match, { go: (ply) => this.go(ply), reveal: () => this.revealAll() });
    this.headline = h("strong"); // that it is the reader's turn
    this.colon = h("span", { class: "colon" });
    this.said = h("span");
    this.status = seat ? h("p", { class: "status prompt", role: "status" }, h("span", null, this.headline, this.colon, this.said)) : h("p", { class: "status" });
    // Bots may play a hundred plies a second: of their match its turning points, its end, and what goes wrong are said aloud.
    this.aloud = seat ? null : h("p", { class: "unseen", role: "status" });
    this.told = h("p", { class: "told", role: seat ? "status" : null });
    this.story = h("p", { class: "story" });
    this.words = h("ul", { class: "in-words" });
    this.badge = new LiveBadge(() => this.playback.jump());
    this.slider = h("input", { type: "range", min: 0, "aria-label": "Move", oninput: () => this.slide(Number(this.slider.value)) });
    this.marks = h("div", { class: "marks" });
    this.track = h("div", { class: "track" }, this.slider, this.marks);
    this.counter = h("span", { class: "counter", "aria-hidden": "true" }); // the slider says it aloud
    this.actions = h("div", { class: "actions" });
    this.steps = /** @type {HTMLElement[]} */ ([]); // back, on, and to the newest move
    this.choices = h("div", { class: "actions choices" }); // moves that no cell stands for
    this.keys = new KeyList();
    this.speed = h("select", { class: "speed", "aria-label": "Speed", title: "Speed", onchange: () => this.playback.hurry(Number(this.speed.value)) },
      SPEEDS.map((each) => h("option", { value: each, selected: each === 1 }, `${each === 0.5 ? "½" : each}×`)));
    this.highlights = h("button", { type: "button", class: "small bare", hidden: true, onclick: () => this.playback.playCuts(this.cuts()) }, "Play highlights");
    this.alone = h("button", { type: "button", class: "extra", "aria-label": "Full screen", title: "Full screen (F)", onclick: () => this.toggleAlone() },
      svg("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: "M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4" })));
    this.playback = new Playback(match, () => this.refreshSoon(), {
      live, atOnce: seat !== null, changed: () => this.refreshSoon(), moment: (ply) => nextMoment(match, this.continents, ply),
    });
    this.element = this.layOut();
    new ResizeObserver(([{ contentRect }]) => {
      this.trackWidth = contentRect.width; // fewer marks fit a narrower window
      this.showTrack(this.at);
    }).observe(this.marks);
    this.placed = new ResizeObserver(() => this.showPlaces());
    for (const each of [document.body, this.table]) this.placed.observe(each);
    this.onResize = () => {
      this.showStudy();
      this.board.zoom?.refit(); // a window of another height leaves the board its width, which nothing else notices
    };
    window.addEventListener("resize", this.onResize);
    this.onKey = (event) => this.key(event);
    document.addEventListener("keydown", this.onKey);
    if (match.game instanceof Declared) match.game.addEventListener("known", () => this.refreshSoon());
    if (match.game.names) {
      loadMapData(match.game.setup).then(({ continents }) => {
        this.continents = continents;
        this.refreshSoon();
      });
    }
  }

  layOut() {
    const { match } = this;
    const step = (label, text, to, name = "") => h("button", { type: "button", "aria-label": label, title: label, class: name, onclick: to }, text);
    this.runButton = step("Play the moves", "▶", () => this.run(), "run extra");
    this.steps = [
      step("Previous move", "‹", () => this.go(this.at - 1)),
      step("Next move", "›", () => this.go(this.at + 1)),
      step(this.live ? "Newest move" : "Last move", "»", () => this.go(null), this.live ? "" : "extra")];
    this.moment = h("span", { class: "moment-of", hidden: true }); // that a review shows the position before a mistake
    this.controls = h("div", { class: "controls" },
      step("Start", "«", () => this.go(0), "extra"), this.steps[0], this.runButton, ...this.steps.slice(1),
      this.track, this.speed, this.counter,
      document.fullscreenEnabled ? this.alone : null,
      step("Keys", "?", () => this.keys.toggle(), "extra"));
    const names = !this.seat ? h("span", { class: "unseen" }, `${match.players.maxie} v ${match.players.minnie} · `) : null;
    const more = [match.control, eventTitle(match.event), match.started && dateOf(match.started)].filter(Boolean);
    const title = h("div", { class: "title" },
      h("h1", { class: "quiet", tabindex: -1 }, names, gameTitle(match.gameName, match.setup.map), this.moment, more.length ? parts(more, "more-of-title") : null),
      this.badge.element, this.seat ? null : this.status, this.aloud);
    this.scoreboard = new Scoreboard({ title, own: this.seat });
    const { best, begin, undo } = this.explorer;
    this.doing = h("div", { class: "actions doing" }, best, this.review.button, begin, undo);
    this.study = h("section", { class: "study", "aria-label": "Analysis" }, this.review.element, this.explorer.element, this.doing);
    this.plot.head.append(this.highlights);
    this.links = h("p", { class: "links" });
    const panel = (name, ...content) => h("div", { class: "panel-of", role: "tabpanel", "aria-label": name }, ...content);
    const panels = [panel("Moves", this.moves.element), panel("Openings", this.openings.element, this.links),
      ...[panel("Engines", this.engines.element), panel("In words", this.words)].map((each) => set(each, { tabindex: 0 }))]; // text alone, which a keyboard scrolls, too
    this.tabs = new Tabs("About the match", panels.map(({ ariaLabel }) => ariaLabel), (n) => {
      panels.forEach((each, k) => set(each, { hidden: k !== n }));
      this.refreshSoon();
    });
    this.turn = this.seat ? h("div", { class: "turn" }, this.status) : null;
    this.telling = h("div", { class: "telling" }, this.story, this.told);
    this.column = h("div", { class: "column" }, this.turn,
      h("div", { class: "under" }, this.choices, this.controls, this.board.offers ?? null, this.telling),
      h("aside", { class: "side", "aria-label": "Moves and graph" }, this.plot.element, this.study,
        h("div", { class: "tabbed" }, this.tabs.element, panels)));
    const { places } = match.setup;
    this.frame = h("div", { class: "board", ...(match.game instanceof Declared && { tabindex: 0, role: "region", "aria-label": "Board" }) }, this.board.element);
    this.table = h("div", { class: "table-top" }, this.scoreboard.element, this.frame);
    const element = h("div", { class: "viewer", "data-seat": this.seat }, this.table, this.column);
    if (places) {
      const [wide, high] = spans(places).map(([least, most]) => most - least);
      element.style.setProperty("--aspect", (wide / (high || 1)).toFixed(2));
    }
    return element;
  }

  // Tell the style where the match begins on the page, and where the board is in it: on a phone the board stays while the rest is scrolled.
  showPlaces() {
    const top = this.element.getBoundingClientRect().top + window.scrollY;
    const above = this.frame.getBoundingClientRect().top - this.table.getBoundingClientRect().top;
    const places = { "--top": top, "--board-top": above, "--board-height": this.table.offsetHeight - above };
    for (const [name, px] of Object.entries(places)) this.element.style.setProperty(name, `${px}px`);
    this.board.zoom?.fit();
  }

  // Say something in the place of the match's state; with `alarm` it is bad news. `headline`: what stands above it.
  tell(message, alarm = false, headline = "") {
    this.message = message;
    say(this.headline, headline);
    say(this.colon, headline && ": ");
    this.alarm = alarm;
    this.refreshSoon();
  }

  get at() {
    return this.playback.at;
  }

  // Return true while the reader plays.
  get own() {
    return this.seat !== null && !this.match.end;
  }

  // The ply where the reader stays; null where the match plays by itself.
  get ply() {
    return this.playback.running || this.playback.isOver ? null : this.at;
  }

  // Begin at a ply; null for where the match begins by itself.
  begin(ply) {
    if (ply !== null) this.playback.go(ply);
    else if (!this.live && !isStill()) this.playback.play();
    this.refresh();
    this.scoreboard.start();
  }

  spot(n) {
    if (this.explorer.active) this.explorer.picker.spot(n);
    else if (this.playback.follows) this.picker.spot(n);
    this.picked();
    if (!this.own) return;
    for (const part of [this.controls, this.frame]) part.scrollIntoView({ block: "nearest" });
  }

  // Show a ply and stay there; null is the newest, which is followed while the match goes on.
  go(ply) {
    this.explorer.stop();
    this.playback.go(ply ?? this.match.moves.length);
    this.refresh();
    this.went(this.playback.follows ? null : this.at);
  }

  // The right end of a live match's slider is its newest move.
  slide(ply) {
    this.go(this.live && ply === this.playback.known ? null : ply);
  }

  // On a small window the list of moves is below the board, where a chosen move is shown.
  reveal() {
    const { bottom, height } = this.frame.getBoundingClientRect();
    if (bottom < height / 2) this.table.scrollIntoView({ block: "start" });
  }

  // The match has changed.
  grown() {
    this.playback.grown();
  }

  // Show it with the next picture. Bots may play a hundred plies a second, and a page that nobody looks at need not be drawn.
  refreshSoon() {
    // Armies arrive before the answer to them is drawn.
    this.board.whenStill(() => {
      if (!this.stopped) this.due ??= requestAnimationFrame(() => this.refresh());
    });
  }

  // Show the ply that is to be shown, and tell of it while its armies travel.
  refresh() {
    cancelAnimationFrame(this.due);
    this.due = undefined;
    const { at, seen } = this.playback;
    if ("follow" in this.board) this.board.follow(this.seat || this.explorer.active || this.review.ready ? [] : this.match.moves.slice(Math.max(0, at - FOLLOWED), at).map(({ move }) => move));
    this.board.show(...this.explorer.active ? this.explorer.scene : this.match.scene(this.at, this.shownPly(at)));
    const tried = this.explorer.active ? this.explorer.describe() : null;
    this.tellMove(at, seen, tried);
  }

  // Return the ply whose position the board shows at a ply.
  shownPly(at) {
    return this.playback.running ? at : this.review.shownPly(at);
  }

  // Tell of the move that led to the ply `at`, when the moves up to `seen` are known. `tried`: the description of the last move of the reader's own line, if one is tried.
  tellMove(at, seen, tried) {
    const { match, explorer, playback } = this;
    explorer.show(at, this.own);
    const position = explorer.active ? explorer.position : playback.running ? null : match.positions[this.shownPly(at)];
    this.learnEnd();
    this.tabs.offer(OPENINGS_TAB, (this.openings.builtIn || this.links.hasChildNodes()) && !this.own);
    this.openings.show(this.openings.builtIn && this.tabs.isChosen(OPENINGS_TAB) ? position : undefined);
    this.review.show(this.over, at);
    if (this.tabs.isChosen(ENGINES_TAB)) this.engines.show(at, !this.own);
    this.showStudy();
    const line = explorer.tried;
    const before = this.shownPly(at) < at && !explorer.active;
    const best = before ? this.review.before(at) : null; // before a mistake, the chance with the better move
    set(this.moment, { hidden: !before });
    say(this.moment, before ? `Before move ${at}` : "");
    const share = line.length ? line[line.length - 1].share : best;
    this.scoreboard.show(match, this.shownPly(at), { behind: playback.behind > 0, tried: before || line.length ? { position, share } : null, before });
    // A small frame of another site has nothing else that tells the result.
    const tells = this.over && document.body.classList.contains("embedded");
    set(this.scoreboard.bar, { hidden: this.seat !== null || (!hasChances(match) && !tells) }); // a player is not told the chances
    this.showTrack(at);
    const { known, end, atOnce } = playback;
    const { from } = explorer;
    if (from === null) this.plot.show({ at: this.shownPly(at), best, seen, known, end, atOnce }, this.turns(seen));
    else this.plot.show({ at: from + line.length, best, seen: from, known: from + line.length, end: null, atOnce: false, tried: line }, this.turns(from));
    const told = story(match, this.continents, at);
    const { words, seat, aloud = words } = this.review.sentence(at) ?? (this.own ? playerSentence(match, this.continents, at) : sentence(match, told, at));
    const over = match.endsAt(at) && !explorer.active;
    const silent = explorer.active || (over && this.seat !== null); // the bar tells the reader's own end
    const [result, why] = over && !silent ? ending(match) : [this.toReader(words), ""];
    say(this.story, silent ? "" : result);
    set(this.story, { "data-owner": silent ? null : over ? match.end.winner : seat });
    if ("suggest" in this.board) this.board.suggest(explorer.suggested ?? null);
    say(this.told, tried ?? `${why && `${capitalized(why)} · `}${describeMove(match, at, this.seat, before)}${this.judged(at)}`);
    say(this.seat ? this.said : this.status, this.state());
    set(this.status, { "data-alarm": this.alarm || Boolean(match.game.fault) });
    if (this.seat === null) this.badge.show(playback);
    if (this.aloud) say(this.aloud, this.message || (match.endsAt(at) ? explained(match.end, match.players) : this.live && !silent ? this.toReader(aloud || (Number.isNaN(this.heard) ? words : "")) : ""));
    this.sound(at);
    if (this.tabs.isChosen(WORDS_TAB)) this.words.replaceChildren(...this.board.inWords(match.positions[this.shownPly(at)]).map((each) => h("li", null, each)));
    this.placeActions();
    this.moves.show(at, from ?? seen, line); // when all else has its place, because the list is scrolled to the move
    // Who looks back looks: what may be chosen is chosen in the newest position.
    if (explorer.active) explorer.picker.mark();
    else if (!this.picker.chosen || !playback.follows) this.board.mark(null);
    else this.picker.mark();
  }

  // Notice that the reader may know the end of the match.
  learnEnd() {
    if (this.over || !this.playback.end) return;
    this.over = true;
    this.ended();
  }

  // Tell the style whether the reader plays, which leaves another rest of the window to the board.
  showState() {
    const before = this.element.dataset.own;
    set(this.element, { "data-own": this.own });
    if (this.element.dataset.own !== before) this.refit();
  }

  // Say what the buttons do beside the move of one's own: look back, and play on.
  nameSteps() {
    const { own, steps: [back, ...on], playback: { follows } } = this;
    const focused = on.some((each) => each.matches(":focus-visible"));
    say(back, own && follows ? "‹ Look back" : "‹");
    set(back, { "aria-label": own && follows ? "Look back: previous move" : "Previous move" });
    for (const each of on) set(each, { hidden: own && follows });
    if (focused && own && follows) back.focus(); // the hidden button had the focus
  }

  refit() {
    this.board.zoom?.refit();
    this.moves.follow();
  }

  // Show what the engine says, and what the reader of a match may do next: always in the same place.
  showStudy() {
    const { explorer, review } = this;
    const study = this.own ? null : explorer.active ? "line" : review.told.textContent ? "review" : null;
    const { offers, zoom } = this.board;
    const isBeside = study === "line" && !zoom?.isHandheld; // the choices are below the way through the line
    if (offers && (offers.parentElement === this.study) !== isBeside) (isBeside ? this.doing : this.telling).before(offers);
    set(this.study, { hidden: this.own });
    if (study === (this.element.dataset.study ?? null)) return;
    set(this.element, { "data-study": study });
    this.column.scrollTop = 0; // what it says is above the button that asks for it
    this.refit();
  }

  // Return the turning points up to the ply `seen`: the costliest mistakes after a review, otherwise key moments.
  turns(seen = this.playback.seen) {
    const { match, review } = this;
    if (review.ready) return review.decisive.filter((ply) => ply <= seen).map((ply) => ({ ply, words: review.describe(ply), kind: review.mark(ply), weight: review.lost(ply), drop: [review.before(ply), review.after(ply)] }));
    const found = this.over ? this.moments : keyMoments(match, this.continents, seen);
    return found.filter(({ ply }) => ply <= seen);
  }

  // The slider with its turning points, and the buttons beside it.
  showTrack(at) {
    const { match, playback } = this;
    const last = playback.known;
    set(this.slider, { max: last, "aria-valuetext": `move ${this.at} of ${last}` });
    this.slider.value = String(this.at); // where the reader has put it
    this.track.style.setProperty("--at", String(last ? this.at / last : 0));
    say(this.counter, `${at} / ${last}`);
    this.showState();
    this.nameSteps();
    say(this.runButton, playback.running ? "❚❚" : playback.isOver ? "↻" : "▶");
    const label = playback.running ? "Pause" : playback.isOver ? "Watch again" : "Play the moves";
    set(this.runButton, { title: label, "aria-label": label });
    if (!this.over) return;
    const width = this.trackWidth;
    const known = `${last} ${this.continents.length}`;
    if (known !== this.momentsOf) this.moments = keyMoments(match, this.continents);
    this.momentsOf = known;
    set(this.highlights, { hidden: !this.moments.length || this.explorer.active });
    const turns = this.turns();
    const name = this.review.ready ? "Mistake" : "Key moment";
    const key = `${known} ${width} ${name} ${turns.length}`;
    if (key === this.marked) return;
    this.marked = key;
    // Turning points that are too close for a finger to press each are one button, which leads from one to the next.
    const groups = /** @type {any[][]} */ ([]);
    for (const turn of turns) {
      const group = groups[groups.length - 1];
      if (group && ((turn.ply - group[0].ply) * width) / last < MARK_WIDTH) group.push(turn);
      else groups.push([turn]);
    }
    this.marks.replaceChildren(...groups.map((group) => {
      const [{ ply }] = group;
      const told = group.map((each) => `${name}, move ${each.ply}: ${each.words}`).join("; ");
      const mark = h("button", { type: "button", "aria-label": told, "data-right": ply > last / 2,
        onclick: () => this.go((group.find((each) => each.ply > this.at) ?? group[0]).ply) },
      group.map((turn) => {
        const dot = h("span", { "data-kind": turn.kind, "data-owner": turn.kind && match.seatOf(turn.ply - 1) });
        dot.style.translate = `${(((turn.ply - ply) * width) / last).toFixed(1)}px`;
        return dot;
      }));
      mark.style.left = `${((100 * ply) / last).toFixed(1)}%`;
      mark.style.width = `calc(1.5rem + ${(((group[group.length - 1].ply - ply) * width) / last).toFixed(1)}px)`; // up to its last dot
      return mark;
    }));
  }

  // The plies around each key moment and the end, as [first, last].
  cuts() {
    const { length } = this.match.moves;
    return [...this.moments.map(({ ply }) => [Math.max(0, ply - 3), Math.min(length, ply + 1)]), [Math.max(0, length - 2), length]];
  }

  // The actions on the match are beside the words about it: in a match of the reader's own in the bar, when it is over. There the
  // result of the move that is pointed at leaves the bar.
  placeActions() {
    const { own, board: { preview } } = this;
    const next = own ? this.status : this.told;
    if (preview && preview.nextElementSibling !== next) next.before(preview);
    const place = own ? this.controls : this.turn ?? this.doing;
    if (this.actions.parentElement !== place) place.append(this.actions);
  }

  // The whole review is there to be looked at: nothing of the match is kept back, and nothing moves by itself. It begins at `ply`.
  showReview(ply) {
    const { button, ready } = this.review;
    const focused = button.matches(":focus-visible");
    if (ready) this.playback.reveal();
    if (ply !== undefined && !this.explorer.active) this.go(ply);
    else this.refresh();
    if (!focused || !button.hidden) return; // with the button the focus of the keyboard would be lost
    if (this.slider.checkVisibility()) this.slider.focus();
    else this.tabs.focus();
  }

  // Show the rest of the graph and of the moves.
  revealAll() {
    this.playback.reveal();
    this.refresh();
  }

  // A sound for one ply on; not for a jump, and not for what is shown again.
  sound(at) {
    const stepped = at === this.heard + 1;
    this.heard = at;
    if (!stepped) return;
    const { match, seat } = this;
    const [, move, before] = match.scene(at);
    const told = match.game.told?.(before, move);
    if (match.endsAt(at)) sound(seat && match.end.winner && match.end.winner !== seat ? "defeat" : "over");
    else sound(told?.what === "won" ? "capture" : told?.what === "lost" ? "loss" : "quiet");
  }

  state() {
    const { match, playback } = this;
    if (match.game.fault) return `The board cannot be shown. ${match.game.fault}`;
    if (this.seat && match.end) return ending(match, this.seat).filter(Boolean).join(" · ");
    if (this.message) return this.message;
    if (playback.end) return "";
    if (!match.running && !match.moves.length) return "Waiting for the players…";
    return watched(match);
  }

  // Address the reader in a sentence that begins with the reader's name: "ann holds Africa" is "You hold Africa".
  toReader(words) {
    const name = this.seat && this.match.players[this.seat];
    if (!name || !words.startsWith(`${name} `)) return words;
    return `You${words.slice(name.length).replace(/^ is (.*)|s(?= |$)/, (_, rest) => (rest ? ` are ${rest}` : ""))}`;
  }

  // What the move truly was, by the table of a solved map.
  judged(at) {
    const truly = at ? this.truth?.[at - 1] : null;
    return truly ? ` · ${truly.kind}, now a ${truly.now} for ${SIDES[this.match.positions[at].player]}` : "";
  }

  key(event) {
    const act = keyAction(event, {
      back: () => this.go(this.at - 1),
      on: () => this.go(this.at + 1),
      start: () => this.go(0),
      end: () => this.go(null),
      run: () => this.run(),
      keys: () => this.keys.toggle(),
      faster: () => this.hurry(1),
      slower: () => this.hurry(-1),
      alone: () => this.toggleAlone(),
    });
    if (!act || (document.querySelector("dialog[open]") && !(this.keys.isOpen && event.key === "?"))) return;
    event.preventDefault();
    act();
  }

  hurry(by) {
    this.speed.selectedIndex = Math.max(0, Math.min(SPEEDS.length - 1, this.speed.selectedIndex + by));
    this.playback.hurry(Number(this.speed.value));
  }

  toggleAlone() {
    if (document.fullscreenElement) document.exitFullscreen();
    else if (document.fullscreenEnabled) this.element.requestFullscreen();
  }

  run() {
    const { playback } = this;
    if (playback.running && !this.own) {
      playback.pause();
      this.went(playback.at);
    } else {
      this.explorer.stop();
      playback.play();
      this.went(null);
    }
    this.refresh();
  }

  stop() {
    this.stopped = true;
    this.playback.stop();
    this.placed.disconnect();
    window.removeEventListener("resize", this.onResize);
    cancelAnimationFrame(this.due);
    this.scoreboard.stop();
    this.openings.stop();
    document.removeEventListener("keydown", this.onKey);
  }
}
