// One match: live while it lasts, then from its record.

import { rename, to } from "../address.js";
import { ask } from "../api.js";
import { h } from "../dom.js";
import { Match } from "../match.js";
import { Follower } from "../parts/follow.js";
import { share } from "../parts/share.js";
import { Viewer } from "../parts/viewer.js";
import { spectator, wasLive, watch, watchAgain } from "../spectator.js";
import { plyOf } from "../text.js";

const RETRY_MS = 1200;
const RETRIES = 5;

export class MatchView {
  // view: the name that the address begins with.
  constructor(main, [id, ply], { view = "match" } = {}) {
    this.main = main;
    this.view = view;
    this.id = id;
    this.ply = plyOf(ply);
    this.viewer = /** @type {any} */ (null);
    main.replaceChildren(h("p", { class: "quiet", role: "status" }, "Loading the match …"));
    this.follower = new Follower((match, fresh) => this.changed(match, fresh), () => watchAgain(id));
    this.wire = spectator();
    this.lost = () => this.tell("The connection is lost; trying again …");
    this.found = () => this.tell("");
    this.wire.addEventListener("lost", this.lost);
    this.wire.addEventListener("open", this.found);
    this.unwatch = watch(id, (message) => (message.type === "error" ? this.past() : this.follower.take(message)));
  }

  tell(message) {
    this.viewer?.tell(message, message !== "");
  }

  changed(match, fresh) {
    try {
      if (fresh) this.show(match, true);
      else this.viewer.refreshSoon();
      if (match.end) this.ended(match);
    } catch (error) {
      this.fail(error);
    }
  }

  // It is over, or never was: its record knows. One that has just ended may not be in the store yet.
  async past(retries = wasLive(this.id) ? RETRIES : 0) {
    try {
      const match = Match.fromRecord(await ask(`record/${encodeURIComponent(this.id)}`));
      if (this.stopped) return;
      this.show(match, false);
      this.ended(match);
    } catch (error) {
      if (this.stopped) return;
      if (retries) setTimeout(() => this.stopped || this.past(retries - 1), RETRY_MS);
      else this.fail(error);
    }
  }

  show(match, live) {
    const kept = this.viewer ? this.viewer.ply : this.ply;
    this.viewer?.stop();
    this.viewer = new Viewer(match, {
      live,
      link: (ply) => to(this.view, this.id, ply),
      went: (ply) => rename(to(this.view, this.id, ply)),
    });
    this.viewer.ply = kept === null ? null : Math.min(kept, match.moves.length);
    this.main.replaceChildren(this.viewer.element);
    this.offer(match);
    this.viewer.refresh(); // on the page, where lists and maps can be scrolled to the ply
    document.title = `${match.players.maxie} v ${match.players.minnie}`;
  }

  ended(match) {
    if (match.gameName === "riskless") this.judge(match);
    this.offer(match);
  }

  // What can be done with the match beside looking at it; within somebody else's page, nothing.
  offer(match) {
    if (this.view === "embed") return;
    this.viewer.actions.replaceChildren(...[
      match.end && h("a", { class: "button", href: `/api/record/${encodeURIComponent(this.id)}?download` }, "Download the record"),
      match.end && h("a", { class: "button plain", href: `/search?like=${encodeURIComponent(this.id)}` }, "Same opening"),
      share(this.id, () => this.viewer.ply, { over: Boolean(match.end) })].filter(Boolean));
  }

  // On a solved map the server knows what each move truly was; elsewhere it answers null.
  async judge(match) {
    try {
      this.viewer.truth = await ask(`truth/${encodeURIComponent(match.id)}`);
    } catch {
      return; // one that has just ended may not be in the store yet: it is judged when the page is loaded again
    }
    if (!this.stopped) this.viewer.refresh();
  }

  go(ply) {
    this.viewer?.go(plyOf(ply));
  }

  fail(error) {
    this.main.replaceChildren(h("h1", null, "No such match"), h("p", { class: "fault", role: "alert" }, error.message),
      h("p", null, h("a", { href: "/" }, "All matches")));
  }

  stop() {
    this.stopped = true;
    this.unwatch();
    this.wire.removeEventListener("lost", this.lost);
    this.wire.removeEventListener("open", this.found);
    this.viewer?.stop();
  }
}
