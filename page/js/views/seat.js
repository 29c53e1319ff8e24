// The match that the reader plays, at the address of the match.

import { go, rename, to } from "../address.js";
import { h, set } from "../dom.js";
import { share } from "../parts/share.js";
import { Viewer } from "../parts/viewer.js";
import { playing } from "../playing.js";
import { SEAT_NAMES, other, plyOf } from "../text.js";

export class SeatView {
  constructor(main, [id, ply]) {
    this.main = main;
    this.id = id;
    this.ply = plyOf(ply);
    this.viewer = /** @type {any} */ (null);
    main.replaceChildren(h("h1", null, "Your match"), h("p", { class: "quiet", role: "status" }, "Coming back to your match …"));
    this.onChange = () => this.show();
    playing.addEventListener("change", this.onChange);
    this.counting = setInterval(() => playing.lostAt === null || this.show(), 500);
    this.show();
  }

  show() {
    const { match } = playing;
    if (!match || playing.matchId !== this.id) return;
    if (!this.viewer) this.begin(match);
    const mine = playing.moves;
    const moved = this.seen !== match.moves.length;
    this.seen = match.moves.length;
    if (mine.length && !this.viewer.picker.chosen) {
      if (moved) this.viewer.go(null); // the opponent has moved: that is what to look at
      this.choose(match, mine);
    } else if (!mine.length) {
      this.viewer.picker.stop();
      this.viewer.choices.replaceChildren();
    }
    set(this.viewer.choices, { hidden: this.viewer.ply !== null });
    this.viewer.tell(this.words(match, mine.length > 0), playing.lostAt !== null);
    if (match.end) this.offerRematch();
    else this.offerResignation();
    document.title = mine.length ? "Your turn" : `${match.players.maxie} v ${match.players.minnie}`;
  }

  // By clicks on cells; moves that are no cell or two are a button each.
  choose({ game, last }, moves) {
    const clicks = (move) => game.clicks?.(last, move) ?? [move].flat();
    const onCells = moves.filter((move) => [1, 2].includes(clicks(move).length));
    this.viewer.picker.ask(onCells, (move) => playing.move(move), clicks);
    this.viewer.choices.replaceChildren(...moves.filter((move) => !onCells.includes(move)).map((move) => (
      h("button", { type: "button", onclick: () => playing.move(move) }, game.text(move)))));
  }

  begin(match) {
    this.viewer = new Viewer(match, {
      live: true,
      link: (ply) => to("match", this.id, ply),
      went: (ply) => {
        rename(to("match", this.id, ply));
        this.show();
      },
      speak: true,
    });
    this.viewer.ply = this.ply === null || this.ply >= match.moves.length ? null : this.ply;
    this.main.replaceChildren(this.viewer.element);
    this.viewer.refresh();
  }

  words(match, mine) {
    if (playing.lostAt !== null) return this.lost();
    if (playing.note) return playing.note;
    if (mine && this.viewer.ply !== null) return "Your turn. You look back: the newest position is where you play.";
    if (mine) return `Your turn, ${SEAT_NAMES[playing.seat]}: choose ${match.game.names ? "a territory, then where its armies go" : "your move"}`;
    return match.moves.length || match.running ? `${match.players[other(playing.seat)]} thinks …` : "";
  }

  // What happens now that the server does not answer.
  lost() {
    const left = Math.ceil((playing.graceMs - (performance.now() - playing.lostAt)) / 1000);
    const sent = playing.sent ? " Your move is kept and sent again." : "";
    return left > 0
      ? `${playing.note} The page tries again by itself.${sent} Your clock may run on, and you have ${left} s to come back.`
      : `${playing.note} The page still tries.${sent} If the server is up the match is lost by now; if it was down the match goes on when it is back.`;
  }

  offerResignation() {
    if (this.offered === "resign") return;
    this.offered = "resign";
    const ask = h("button", { type: "button", class: "danger", onclick: () => turn(true) }, "Resign");
    const sure = h("span", { class: "sure", role: "group", "aria-label": "Resign?" }, h("span", null, "Give the match up?"),
      h("button", { type: "button", class: "danger", onclick: () => { turn(false); playing.resign(); } }, "Yes, resign"),
      h("button", { type: "button", onclick: () => { turn(false); ask.focus(); } }, "No, play on"));
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
      h("a", { class: "button plain", href: to("play", asked?.opponent) }, "Another match"),
      h("a", { class: "button plain", href: `/api/record/${encodeURIComponent(this.id)}?download` }, "Download the record"),
      share(this.id, () => this.viewer.ply, { over: true }),
      this.told].filter(Boolean));
  }

  // The same again, with the seats swapped.
  rematch(asked) {
    const { name, token } = playing.entry;
    const again = { ...asked, name, token, seat: other(playing.seat), taken: undefined };
    go(to("play", asked.opponent));
    playing.ask(again);
  }

  go(ply) {
    this.viewer?.go(plyOf(ply));
  }

  stop() {
    clearInterval(this.counting);
    playing.removeEventListener("change", this.onChange);
    this.viewer?.stop();
  }
}
