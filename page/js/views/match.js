// One match: live while it is played, afterwards from its record.

import { replaceAddress, addressOf } from "../router.js";
import { fetchJson } from "../api.js";
import { capitalized, h } from "../dom.js";
import { Match } from "../match.js";
import { Follower } from "../parts/follow.js";
import { loneCard } from "../parts/cards.js";
import { share } from "../parts/share.js";
import { Viewer } from "../parts/viewer.js";
import { wasLive, watch, requestView } from "../spectator.js";
import { plyOf } from "../text.js";

const RETRY_MS = 1200;
const RETRIES = 5;

export class MatchView {
  // view: the first part of the address.
  constructor(main, [id, ply], { view = "match" } = {}) {
    this.main = main;
    this.view = view;
    this.id = id;
    this.ply = plyOf(ply);
    this.viewer = /** @type {any} */ (null);
    main.replaceChildren(h("p", { class: "quiet", role: "status" }, "Loading…"));
    this.follower = new Follower((match, fresh) => this.changed(match, fresh), () => requestView(id));
    this.unwatch = watch(id, (message) => (message.type === "error" ? this.past() : this.follower.take(message)));
  }

  changed(match, fresh) {
    try {
      if (fresh) this.show(match, true);
      else this.viewer.grown();
    } catch (error) {
      this.fail(error);
    }
  }

  // The match is over or unknown: look for its record. A match that has just ended may not be in the store yet.
  async past(retries = wasLive(this.id) ? RETRIES : 0) {
    try {
      const record = await fetchJson(`record/${encodeURIComponent(this.id)}`);
      if (this.stopped) return;
      // A spectator who has come back watches on, and knows the end when it is shown.
      if (this.follower.match) this.follower.finish(record);
      else this.show(Match.fromRecord(record), false);
    } catch (error) {
      if (this.stopped) return;
      if (retries) setTimeout(() => this.stopped || this.past(retries - 1), RETRY_MS);
      else this.fail(error);
    }
  }

  show(match, live) {
    this.viewer = new Viewer(match, {
      live,
      whole: this.view === "embed",
      ended: () => this.ended(match),
      reviewed: this.view === "embed" ? "" : "stored",
      link: (ply) => addressOf(this.view, this.id, ply),
      went: (ply) => replaceAddress(addressOf(this.view, this.id, ply)),
    });
    this.main.replaceChildren(this.viewer.element);
    this.offer();
    this.viewer.begin(this.ply); // on the page, where lists and maps can be scrolled to the ply
    document.title = `${match.players.maxie} v ${match.players.minnie}`;
  }

  ended(match) {
    if (match.gameName === "riskless") this.judge(match);
    this.offer();
  }

  // Other actions on the match, and a link to others like it; none if the page is embedded elsewhere.
  offer() {
    if (this.view === "embed") return;
    const { over } = this.viewer;
    this.viewer.actions.replaceChildren(share(this.id, this.viewer, { over }));
    if (over) this.viewer.links.replaceChildren(h("a", { href: `/search?like=${encodeURIComponent(this.id)}` }, "Matches with the same opening"));
  }

  // For a solved map the server knows the true value of each move; for other maps it answers null.
  async judge(match) {
    try {
      this.viewer.truth = await fetchJson(`truth/${encodeURIComponent(match.id)}`);
    } catch {
      return; // a match that has just ended may not be in the store yet; the next load of the page shows its values
    }
    if (!this.stopped) this.viewer.refresh();
  }

  go(ply) {
    const at = plyOf(ply);
    if (at !== null) this.viewer?.go(at);
  }

  fail(error) {
    this.main.replaceChildren(h("h1", null, "Match not found"), loneCard(h("p", error.status === 404 ? { role: "status" } : { class: "fault", role: "alert" }, capitalized(error.message).replace(/\.?$/, ".")),
      h("a", { class: "button", href: "/" }, "Back to the start page")));
  }

  stop() {
    this.stopped = true;
    this.unwatch();
    this.viewer?.stop();
  }
}
