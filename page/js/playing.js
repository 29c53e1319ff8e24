// The match that the reader plays: one player's connection for the whole page, whatever view is shown, and the same
// match again after a reload, a crash, or in another tab.

import { fetchJson } from "./api.js";
import { capitalized, on } from "./dom.js";
import { Declared } from "./games/declared.js";
import { forgetMatch, saveMatch, savedMatch, onMatchForgotten } from "./saved.js";
import { Follower } from "./parts/follow.js";
import { answered, isReloading, noAnswer } from "./server.js";
import { botTitle } from "./text.js";
import { Wire } from "./wire.js";

const QUIET_MS = 800;
const OTHER_TABS_MS = 250; // how long other tabs have to say that they play
const START_MS = 1500; // from coming back to the start of what still runs
const MAX_TRIES = 4;
const TEMPORARY_REFUSALS = new Set(["rate_limited", "server_full", "shutting_down", "name_taken"]); // refused now, and perhaps not soon

// "change" whenever something may have to be drawn anew; "started" with a new match; "view" with all of a match anew.
class Playing extends EventTarget {
  state = "idle"; // "waking" (another tab may play), "asking", "returning", "playing", "elsewhere" (another tab plays), "token" (it is needed), "over"
  entry = /** @type {any} */ (null); // what is kept of it: see saved.js
  note = ""; // what goes on, in words; empty where all is well
  outage = ""; // why the server cannot be reached, in words; empty while it answers
  fault = ""; // why the last thing asked for did not happen
  seat = /** @type {any} */ (null);
  lostAt = /** @type {any} */ (null); // when the connection was lost, or did not answer any more
  graceMs = 30_000;
  wire = /** @type {any} */ (null);
  follower = /** @type {any} */ (null);
  turn = /** @type {any} */ (null); // the turn that waits for a move
  sent = /** @type {any} */ (null); // the move that was sent and is not acknowledged
  premove = /** @type {any} */ (null); // the move to be sent as soon as it is the reader's turn, if it is legal then
  challenge = /** @type {any} */ (null);

  constructor() {
    super();
    this.tabs = "BroadcastChannel" in window ? new BroadcastChannel("arena-match") : null;
    this.tabs?.addEventListener("message", ({ data }) => this.hearTab(data));
    onMatchForgotten((match) => this.entry?.match === match && this.state === "elsewhere" && this.drop());
    window.addEventListener("beforeunload", (event) => {
      if ((this.state === "playing" || this.challenge) && !isReloading()) event.preventDefault();
    });
  }

  get match() {
    return this.follower?.match ?? null;
  }

  get matchId() {
    return this.entry?.match ?? null;
  }

  // Whether a match of the reader's own goes on, here or in another tab.
  get goesOn() {
    return Boolean(this.matchId) && ["returning", "playing", "elsewhere", "token"].includes(this.state);
  }

  changed() {
    this.dispatchEvent(new Event("change"));
  }

  // Look for a match from before the page was opened; `address` is the match that its address names.
  async wake(address) {
    const entry = savedMatch(address) ?? savedMatch();
    if (!entry) return;
    this.entry = entry;
    this.state = "waking";
    if (entry.match && entry.match !== address && await this.isElsewhere(entry.match)) {
      this.state = "elsewhere";
      this.changed();
    } else {
      this.comeBack();
    }
  }

  isElsewhere(match) {
    const { tabs } = this;
    if (!tabs) return false;
    return new Promise((resolve) => {
      this.heard = (found) => found === match && resolve(true);
      tabs.postMessage({ asks: match });
      setTimeout(() => resolve(false), OTHER_TABS_MS);
    });
  }

  hearTab({ asks, plays }) {
    if (asks && asks === this.matchId && ["playing", "returning"].includes(this.state)) this.tabs?.postMessage({ plays: asks });
    if (plays) this.heard?.(plays);
  }

  // Take the match over, from another tab too.
  comeBack(token) {
    this.entry = { ...this.entry, token: token ?? this.entry.token };
    this.state = "returning";
    this.connect();
    this.changed();
  }

  // Ask for a match: { name, token, opponent, game, map, time_control, seat }.
  ask({ name, token, ...asked }) {
    this.fault = "";
    const same = this.wire?.open && this.entry?.name === name;
    if (this.entry?.match) forgetMatch(this.entry.match);
    this.entry = { match: null, name, token, session: same ? this.entry.session : "", asked };
    this.follower = null;
    this.state = "asking";
    this.note = "Waiting for an opponent…";
    if (same) this.challengeNow();
    else this.connect();
    this.changed();
  }

  // Accept an open challenge: { name, token, challenge, asked }, where `asked` describes it as an own request would.
  accept({ name, token, challenge, asked }) {
    this.ask({ name, token, ...asked, taken: challenge });
  }

  // Withdraw the request for a match.
  withdraw() {
    if (this.challenge) this.wire.say("withdraw", { challenge: this.challenge });
    else this.fail("");
  }

  challengeNow() {
    this.challenge = null;
    const { opponent, game, map, time_control, seat, taken } = this.entry.asked;
    saveMatch(this.entry);
    if (taken) {
      this.challenge = taken;
      this.wire.say("accept", { challenge: taken });
      return;
    }
    this.wire.say("challenge", { opponent, game, map, time_control, seat, rated: false });
  }

  connect() {
    this.wire?.close();
    const { name } = this.entry;
    this.wire = new Wire(() => ({
      name, token: this.entry.token, session: this.entry.session, pool: false, program: "a person at the page",
    }), QUIET_MS);
    const { wire } = this;
    const hear = (type, take) => on(wire, type, (detail) => wire === this.wire && take(detail));
    hear("welcome", (welcome) => this.welcome(welcome));
    hear("refused", (error) => this.refused(error));
    hear("challenged", (challenge) => this.challenged(challenge));
    hear("queued", ({ challenge, place }) => challenge === this.challenge && this.say(place === 1
      ? "You are next…" : `In the queue: ${place - 1} ahead of you…`));
    hear("challenge_over", (over) => this.challengeOver(over));
    hear("start", (start) => this.start(start));
    hear("turn", (turn) => this.take(turn));
    hear("accepted", (accepted) => this.accepted(accepted));
    hear("error", (error) => this.error(error));
    hear("lost", () => this.lost("The connection to the server was lost."));
    hear("failed", () => this.lost("The server does not answer."));
    hear("silent", () => this.lost("The server does not answer."));
    hear("heard", () => this.found());
    hear("replaced", () => this.elsewhere());
    for (const type of ["view", "presence", "update", "thought", "end"]) {
      hear(type, (message) => message.match === this.matchId && this.follower?.take(message));
    }
  }

  say(note) {
    this.note = note;
    this.changed();
  }

  lost(outage) {
    this.lostAt ??= performance.now();
    this.outage = outage;
    noAnswer();
    this.changed();
  }

  found() {
    this.lostAt = null;
    this.outage = "";
    answered();
    this.changed();
  }

  welcome({ session, limits }) {
    const returning = this.entry.session === session;
    this.entry = { ...this.entry, session };
    this.graceMs = limits.grace_ms;
    this.found();
    if (this.state === "asking") {
      clearTimeout(this.starting);
      // The requested match may have begun while the connection was lost; otherwise the request has ended with it.
      if (returning && this.challenge) this.starting = setTimeout(() => this.challengeNow(), START_MS);
      else this.challengeNow();
      return;
    }
    saveMatch(this.entry);
    if (this.state === "returning" || this.state === "playing") {
      clearTimeout(this.starting);
      this.starting = setTimeout(() => this.isOver(), START_MS);
    }
  }

  // The connection is back, but no match began: the earlier match has ended meanwhile, or is not in the store yet.
  async isOver(tries = MAX_TRIES) {
    const { match } = this.entry;
    if (!match) {
      this.drop();
      return;
    }
    try {
      const record = await fetchJson(`record/${encodeURIComponent(match)}`);
      if (this.matchId !== match) return;
      if (this.match) this.follower.finish(record);
      else this.drop();
    } catch {
      if (this.matchId !== match) return;
      if (tries) this.starting = setTimeout(() => this.isOver(tries - 1), START_MS);
      else this.drop();
    }
  }

  refused({ code, detail }) {
    if (TEMPORARY_REFUSALS.has(code) && this.goesOn) {
      this.lost(`${capitalized(detail)}; trying again…`);
      return;
    }
    this.wire.close();
    if (code === "bad_token" && this.goesOn && !this.entry.token) {
      this.state = "token";
      this.say("");
    } else {
      this.fail(code === "name_taken" ? "That name is in use." : `The server refused: ${detail}`);
    }
  }

  challenged({ challenge, challenger, opponent }) {
    if (challenger !== this.entry.name) {
      // Decline challenges during a match.
      if (this.state !== "idle" && this.state !== "over") this.wire.say("decline", { challenge, reason: "in a match" });
      return;
    }
    this.challenge = challenge;
    this.say(opponent ? `Waiting for ${botTitle(opponent)} to accept…` : "Waiting for an opponent…");
  }

  challengeOver({ challenge, outcome, detail }) {
    if (challenge !== this.challenge) return;
    this.challenge = null;
    if (outcome === "accepted") this.say("Starting…");
    else this.fail(`No match: ${detail || outcome}`);
  }

  start({ match, seat }) {
    clearTimeout(this.starting);
    const first = this.matchId !== match; // and the reader has not returned to it
    const fresh = first || !this.follower;
    this.seat = seat;
    this.challenge = null;
    this.state = "playing";
    this.note = "";
    this.entry = { ...this.entry, match };
    saveMatch(this.entry);
    if (fresh) {
      this.turn = null;
      this.sent = null;
      this.premove = null;
      this.follower = new Follower((_, anew) => this.told(anew), () => this.wire.say("watch", { match }));
    }
    this.wire.say("watch", { match });
    this.wire.say("ready", { match });
    if (first) this.dispatchEvent(new CustomEvent("started", { detail: match }));
    this.changed();
  }

  take(turn) {
    if (this.sent?.ply === turn.ply && this.sent.match === turn.match) {
      this.wire.say("move", this.sent); // it did not arrive before the connection was lost
      return;
    }
    this.turn = turn;
    this.follower.catchUp(turn.moves);
    this.match?.setClocks(turn.clocks, this.seat);
    const { premove } = this;
    this.premove = null;
    if (premove !== null && this.moves.some((move) => String(move) === String(premove))) this.move(premove);
    else this.changed();
  }

  told(anew) {
    if (this.turn && this.match.moves.length <= this.turn.ply) {
      this.follower.catchUp(this.turn.moves);
      this.match.setClocks(this.turn.clocks, this.seat);
    }
    if (this.match.end) this.end();
    else if (anew) this.dispatchEvent(new Event("view"));
    this.changed();
  }

  // Legal moves now; empty if it is not the reader's turn.
  get moves() {
    const { match, turn } = this;
    return turn && match && !match.end && turn.ply === match.moves.length ? match.game.moves(match.last) : [];
  }

  // Moves for a premove while the opponent thinks: legal if it were the reader's turn now.
  get premoves() {
    const { match, seat } = this;
    if (this.state !== "playing" || this.turn || !match || match.end || match.game instanceof Declared || match.last.player === seat) return [];
    return match.game.moves({ ...match.last, player: seat });
  }

  // Choose a premove; null cancels it.
  choosePremove(move) {
    this.premove = move;
    this.changed();
  }

  // Play a move, which is shown immediately.
  move(move) {
    const { match, ply } = this.turn;
    this.sent = { match, ply, move };
    this.turn = null;
    this.note = "";
    this.match.expect(move);
    this.wire.say("move", this.sent); // if the connection is lost, it is sent again with the repeated turn
    this.changed();
  }

  accepted({ ply, spent_ms, clock_ms }) {
    if (this.sent?.ply !== ply) return;
    this.sent = null;
    this.match?.acknowledge(ply, spent_ms, this.seat, clock_ms);
    this.changed();
  }

  error({ match, ply, detail }) {
    if (this.state === "asking") {
      this.fail(capitalized(detail));
      return;
    }
    if (match === this.matchId && ply !== null && this.sent?.ply === ply) {
      this.sent = null;
      this.premove = null;
      this.match?.takeBack(ply);
      this.wire.say("watch", { match });
    }
    if (match === this.matchId) this.say(capitalized(detail));
  }

  resign() {
    if (!this.wire?.say("resign", { match: this.matchId })) this.lost("The server does not answer. Resign again when it does.");
  }

  end() {
    forgetMatch(this.matchId);
    this.turn = null;
    this.sent = null;
    this.premove = null;
    this.state = "over";
    this.note = "";
    this.lostAt = null;
    this.changed();
  }

  elsewhere() {
    this.state = this.matchId ? "elsewhere" : "idle";
    this.turn = null;
    this.premove = null;
    this.say("");
  }

  fail(fault) {
    forgetMatch(this.matchId);
    this.challenge = null;
    this.lostAt = null;
    this.state = "idle";
    this.fault = fault;
    this.say("");
  }

  // Leave the server unless a match is in progress: connected clients are listed as opponents.
  rest() {
    if (this.state === "idle" || this.state === "over") this.drop();
  }

  // Reset to the state without a match.
  drop() {
    forgetMatch(this.matchId);
    this.wire?.close();
    this.wire = null;
    this.entry = null;
    this.follower = null;
    this.state = "idle";
    this.say("");
  }
}

export const playing = new Playing();
