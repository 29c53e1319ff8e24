// A person plays: the page is a bot on the wire, and its engine is whoever clicks.

import { ask } from "../api.js";
import { h, say } from "../dom.js";
import { Follower } from "../parts/follow.js";
import { playForm } from "../parts/playform.js";
import { Viewer } from "../parts/viewer.js";
import { onListing } from "../spectator.js";
import { SEAT_NAMES } from "../text.js";
import { Wire } from "../wire.js";

export class PlayView {
  constructor(main, [opponent]) {
    this.main = main;
    this.status = h("p", { class: "status", role: "status" });
    this.place = h("div", null, h("p", { class: "quiet" }, "Loading …"));
    this.title = h("h1", null, "Play");
    main.replaceChildren(this.title, this.place, this.status);
    this.prepare(opponent ?? "");
  }

  async prepare(opponent) {
    try {
      this.form = playForm(await ask("about"), opponent, (asked) => this.begin(asked));
      if (this.stopped) return;
      this.form.setBots([]); // whom the address names can be asked before the first listing has come
      this.unlist = onListing(({ bots }) => this.form.setBots(bots));
      this.place.replaceChildren(this.form.element);
    } catch (error) {
      say(this.status, error.message);
    }
  }

  begin(asked) {
    this.asked = asked;
    this.form.setBusy(true);
    if (this.wire && this.wire.name === asked.name && this.wire.open) {
      this.challenge();
      return;
    }
    this.leave();
    this.wire = new Wire(() => ({
      name: asked.name, token: asked.token, session: this.session ?? "", pool: false, program: "a person at the page",
    }));
    this.wire.name = asked.name;
    this.listen();
  }

  listen() {
    const { wire } = this;
    const on = (type, take) => wire.addEventListener(type, ({ detail }) => take(detail));
    on("welcome", ({ session }) => {
      const returning = this.session === session;
      this.session = session;
      if (!returning) this.challenge();
      else if (this.matchId) wire.say("watch", { match: this.matchId });
    });
    on("refused", ({ detail }) => {
      this.leave();
      this.tell(`Not let in: ${detail}`, true);
    });
    on("challenged", ({ opponent }) => this.tell(`${opponent} is asked …`));
    on("queued", ({ place }) => this.tell(place === 1 ? "You have the next turn; waiting for a place …" : `Waiting for a place: ${place - 1} before you …`));
    on("challenge_over", (over) => {
      if (over.outcome === "accepted") this.tell("The match begins …");
      else this.tell(`No match: ${over.detail || over.outcome}`, true);
    });
    on("start", (start) => this.start(start));
    on("turn", (turn) => this.turn(turn));
    on("error", (error) => this.tell(error.detail, !this.viewer || Boolean(this.follower?.match?.end)));
    on("lost", () => this.tell("The connection is lost; trying again …"));
    for (const type of ["view", "update", "end"]) {
      on(type, (message) => message.match === this.matchId && this.follower.take(message));
    }
  }

  challenge() {
    const { opponent, game, map, time_control, seat } = this.asked;
    this.wire.say("challenge", { opponent, game, map, time_control, seat, rated: false });
  }

  tell(message, again = false) {
    if (this.viewer && !this.follower.match.end) {
      this.viewer.message = message;
      this.viewer.refresh();
    } else {
      say(this.status, message);
    }
    if (again) {
      this.form.setBusy(false);
      if (this.viewer) this.offerRematch();
    }
  }

  start({ match, seat }) {
    if (this.matchId !== match) {
      this.viewer?.stop();
      this.viewer = null;
      this.myTurn = null;
      this.matchId = match;
      this.follower = new Follower((told, fresh) => this.changed(told, fresh), () => this.wire.say("watch", { match }));
    }
    this.seat = seat;
    this.wire.say("watch", { match });
    this.wire.say("ready", { match });
  }

  turn(turn) {
    this.myTurn = turn;
    if (this.follower.match) {
      this.follower.match.setClocks(turn.clocks, this.seat);
      this.changed(this.follower.match, false);
    }
  }

  changed(match, fresh) {
    if (fresh) {
      this.viewer = new Viewer(match, { live: true, link: () => location.hash, speak: true });
      this.place.replaceChildren(this.viewer.element);
      this.title.hidden = true;
      say(this.status, "");
      this.viewer.actions.replaceChildren(h("button", { type: "button", class: "danger", onclick: () => this.resign() }, "Resign"));
      if (this.myTurn) match.setClocks(this.myTurn.clocks, this.seat);
    }
    const mine = this.myTurn?.ply === match.moves.length && !match.end;
    const moves = mine ? match.game.moves(match.last) : [];
    if (moves.length && !this.viewer.picker.chosen) {
      this.viewer.go(null);
      this.choose(match, moves);
    }
    if (!mine) {
      this.viewer.picker.stop();
      this.viewer.choices.replaceChildren();
    }
    this.viewer.message = mine
      ? `Your turn, ${SEAT_NAMES[this.seat]}: choose ${match.game.names ? "a territory, then where its armies go" : "your move"}`
      : match.moves.length || match.running ? `${match.players[this.seat === "maxie" ? "minnie" : "maxie"]} thinks …` : "";
    this.viewer.refreshSoon();
    if (match.end) this.offerRematch();
  }

  // By clicks on cells; moves that are no cell or two are a button each.
  choose({ game, last }, moves) {
    const clicks = (move) => game.clicks?.(last, move) ?? [move].flat();
    const onCells = moves.filter((move) => [1, 2].includes(clicks(move).length));
    this.viewer.picker.ask(onCells, (move) => this.move(move), clicks);
    this.viewer.choices.replaceChildren(...moves.filter((move) => !onCells.includes(move)).map((move) => (
      h("button", { type: "button", onclick: () => this.move(move) }, game.text(move)))));
  }

  move(move) {
    this.viewer.picker.stop();
    this.viewer.choices.replaceChildren();
    const { match, ply } = this.myTurn;
    this.myTurn = null;
    this.wire.say("move", { match, ply, move });
  }

  resign() {
    this.wire.say("resign", { match: this.matchId });
  }

  offerRematch() {
    this.viewer.actions.replaceChildren(
      h("button", { type: "button", class: "button", onclick: () => this.rematch() }, "Rematch"),
      h("button", { type: "button", onclick: () => this.back() }, "Another match"),
      h("a", { class: "button plain", href: `/api/record/${encodeURIComponent(this.matchId)}?download` }, "Download the record"));
  }

  // The same again, with the seats swapped.
  rematch() {
    this.asked = { ...this.asked, seat: this.seat === "maxie" ? "minnie" : "maxie" };
    this.viewer.actions.replaceChildren();
    if (this.wire.open) this.challenge();
    else this.begin(this.asked);
  }

  back() {
    this.viewer.stop();
    this.viewer = null;
    this.form.setBusy(false);
    this.title.hidden = false;
    this.place.replaceChildren(this.form.element);
    say(this.status, "");
  }

  leave() {
    this.wire?.close();
    this.wire = null;
    this.session = null;
  }

  stop() {
    this.stopped = true;
    this.unlist?.();
    this.viewer?.stop();
    this.leave();
  }
}
