// The match that the reader plays, at the match's address.

import { navigate, replaceAddress, addressOf } from "../router.js";
import { notify } from "../preferences.js";
import { h, set } from "../dom.js";
import { briefing } from "../parts/briefing.js";
import { SHORT_MS } from "../parts/scoreboard.js";
import { share } from "../parts/share.js";
import { Viewer } from "../parts/viewer.js";
import { playing } from "../playing.js";
import { other, plural, plyOf } from "../text.js";

export class SeatView {
  constructor(main, [id, ply]) {
    this.main = main;
    this.id = id;
    this.ply = plyOf(ply);
    this.viewer = /** @type {any} */ (null);
    main.replaceChildren(h("h1", null, "Your match"), h("p", { class: "quiet", role: "status" }, "Returning to your match…"));
    this.onChange = () => this.show();
    playing.addEventListener("change", this.onChange);
    this.onKey = (event) => event.key === "Escape" && !document.querySelector("dialog[open]") && this.cancel();
    document.addEventListener("keydown", this.onKey);
    this.short = false;
    this.counting = setInterval(() => (this.counts || this.short !== this.isShort) && this.show(), 500);
    this.show();
  }

  // True while the remaining seconds of a disconnected player are shown.
  get counts() {
    return playing.lostAt !== null || Boolean(playing.match) && playing.match.returnsIn(other(playing.seat)) !== null;
  }

  // True if the reader, whose turn it is, has little time left for the whole match.
  get isShort() {
    const { match, seat } = playing;
    return playing.moves.length > 0 && !match.perMove && (match.clockNow(seat) ?? Infinity) < SHORT_MS;
  }

  show() {
    const { match } = playing;
    if (!match || playing.matchId !== this.id) return;
    if (!this.viewer) this.begin(match);
    this.viewer.grown();
    const mine = playing.moves;
    const moved = this.seen !== match.moves.length;
    this.seen = match.moves.length;
    const { picker } = this.viewer;
    if (mine.length && (!picker.chosen || picker.ahead)) {
      if (moved) {
        this.viewer.go(null); // the opponent has moved: show the newest position
        notify("Your turn", `against ${match.players[other(playing.seat)]}`);
      }
      this.choose(match, mine);
    } else if (!mine.length) {
      this.viewer.choices.replaceChildren();
      this.offerPremoves(match, moved);
    }
    set(this.briefing, { hidden: match.moves.length > 0 });
    set(this.viewer.choices, { hidden: !this.viewer.playback.follows });
    set(this.cancelling, { hidden: playing.premove === null && picker.source === null });
    this.short = this.isShort;
    const [message, headline] = this.words(match, mine.length > 0);
    this.viewer.tell(message, playing.lostAt !== null, headline);
    set(this.viewer.status, { "data-turn": match.end?.winner ?? (mine.length && playing.lostAt === null ? playing.seat : null), "data-next": playing.premove !== null, "data-short": this.short });
    if (match.end) this.offerRematch();
    else this.offerResignation();
    document.title = mine.length ? "Your turn" : `${match.players.maxie} v ${match.players.minnie}`;
  }

  // Choose a move by clicking cells; a move that is not one or two cells has a button.
  choose({ game, last }, moves) {
    const clicks = (move) => game.clicks?.(last, move) ?? [move].flat();
    const onCells = moves.filter((move) => [1, 2].includes(clicks(move).length));
    this.viewer.picker.ask(onCells, (move) => playing.move(move), clicks);
    this.viewer.choices.replaceChildren(...moves.filter((move) => !onCells.includes(move)).map((move) => (
      h("button", { type: "button", onclick: () => playing.move(move) }, game.text(move)))));
  }

  // Choose a premove while the opponent thinks, also by clicking cells. The choice stays until the position changes.
  offerPremoves({ game, last }, moved) {
    const { picker } = this.viewer;
    const moves = playing.premoves;
    if (!moves.length) picker.stop();
    else if (!picker.ahead || moved || this.premove !== playing.premove) {
      picker.askAhead(moves, (move) => playing.choosePremove(move), playing.premove, (move) => game.clicks?.(last, move) ?? [move].flat());
    }
    this.premove = playing.premove;
  }

  begin(match) {
    this.viewer = new Viewer(match, {
      live: true,
      link: (ply) => addressOf("match", this.id, ply),
      went: (ply) => {
        replaceAddress(addressOf("match", this.id, ply));
        this.show();
      },
      seat: playing.seat,
      picked: () => this.show(),
      reviewed: "stored",
    });
    this.cancelling = h("button", { type: "button", class: "small bare", hidden: true, onclick: () => this.cancel() }, "Cancel");
    this.viewer.turn.append(this.cancelling);
    this.briefing = briefing(match, playing.seat);
    this.viewer.moves.element.before(this.briefing);
    this.main.replaceChildren(this.viewer.element);
    this.viewer.begin(this.ply);
  }

  // Return the state in words, and the headline above them on the reader's turn.
  words(match, mine) {
    if (playing.lostAt !== null) return [this.lost()];
    if (playing.note) return [playing.note];
    const away = match.returnsIn(other(playing.seat));
    const alone = away === null ? "" : `Opponent disconnected; you win in ${Math.ceil(away / 1000)} s.`;
    if (alone && !mine) return [alone];
    if (mine) {
      const next = this.viewer.playback.follows ? this.next(match) : "You are looking back: press » to play on.";
      return [[next, alone].filter(Boolean).join(" · "), `Your turn${this.short ? `, less than ${SHORT_MS / 1000} s left` : ""}`];
    }
    const { source } = this.viewer.picker;
    const chosen = playing.premove !== null ? `${match.game.text(playing.premove)}.` : source !== null && match.game.names ? `${match.game.names[source]} → …` : "";
    const next = chosen && ` Your next move: ${chosen}`;
    return [match.moves.length || match.running ? `${match.players[other(playing.seat)]} is thinking…${next}` : ""];
  }

  // Cancel the premove, or the choice of the territory to move from.
  cancel() {
    if (!this.viewer) return;
    const { picker, element } = this.viewer;
    const focused = this.cancelling.matches(":focus-visible");
    if (playing.premove !== null) playing.choosePremove(null);
    else if (picker.source !== null) picker.select(null);
    this.show();
    if (focused) element.querySelector("[data-source], [data-ahead]")?.focus();
  }

  // Return what the reader has to choose next, in words.
  next({ game, last }) {
    if (!game.names) return "choose your move";
    const { source } = this.viewer.picker;
    if (source === null) return "choose a territory";
    const armies = Math.abs(last.armies[source]);
    return `${game.names[source]}, ${plural(armies, "army", "armies")}. Where\u00a0to?`;
  }

  // Describe the state while the server does not answer.
  lost() {
    const left = Math.ceil((playing.graceMs - (performance.now() - playing.lostAt)) / 1000);
    const sent = playing.sent ? " Your move is saved and will be sent again." : "";
    return left > 0
      ? `${playing.outage} Reconnecting…${sent} Your clock may keep running; you have ${left} s to return.`
      : `${playing.outage} Still trying.${sent} If the server is up, you have lost the match by now. If it was down, the match continues when it is back.`;
  }

  offerResignation() {
    if (this.offered === "resign") return;
    this.offered = "resign";
    const ask = h("button", { type: "button", class: "danger", onclick: () => turn(true) }, "Resign");
    const sure = h("span", { class: "sure", role: "group", "aria-label": "Resign?" }, h("span", null, "Resign?"),
      h("button", { type: "button", class: "danger", onclick: () => { turn(false); playing.resign(); } }, "Yes, resign"),
      h("button", { type: "button", onclick: () => { turn(false); ask.focus(); } }, "Keep playing"));
    const turn = (asked) => {
      set(ask, { hidden: asked });
      set(sure, { hidden: !asked });
      if (asked) sure.lastElementChild.focus();
    };
    turn(false);
    this.viewer.actions.replaceChildren(ask, sure);
  }

  offerRematch() {
    if (this.offered === "rematch") return;
    this.offered = "rematch";
    this.told = h("span", { role: "status" });
    const { asked } = playing.entry;
    this.viewer.actions.replaceChildren(...[
      asked && h("button", { type: "button", class: "button", onclick: () => this.rematch(asked) }, "Rematch"),
      h("a", { class: "button plain again", href: addressOf("play", asked?.opponent) }, "New match"),
      share(this.id, this.viewer, { over: true }),
      this.told].filter(Boolean));
  }

  // Request another match with swapped seats.
  rematch(asked) {
    const { name, token } = playing.entry;
    const again = { ...asked, name, token, seat: other(playing.seat), taken: undefined };
    navigate(addressOf("play", asked.opponent));
    playing.ask(again);
  }

  go(ply) {
    this.viewer?.go(plyOf(ply));
  }

  stop() {
    clearInterval(this.counting);
    playing.removeEventListener("change", this.onChange);
    document.removeEventListener("keydown", this.onKey);
    this.viewer?.stop();
  }
}
