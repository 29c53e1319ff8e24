// One websocket in the bots' own protocol, which comes back by itself when it is lost.

import { Decoder, Encoder } from "../vendor/msgpack/msgpack.mjs";

const SUBPROTOCOL = "arena.v1.msgpack";
const FIRST_WAIT = 250;
const LONGEST_WAIT = 5000;
const BEAT_MS = 125;
const PATIENCE_MS = 700; // from a ping to saying that nobody answers
const GIVE_UP_MS = 8000; // from a ping to another connection

// Every server message is dispatched under its type, as `event.detail`. Besides: "open" follows each welcome,
// "lost" each loss of what was open, "failed" each try in vain, "refused" a hello that is not taken, "replaced" that
// the session goes on elsewhere (this wire is closed then), "silent" and "heard" that the server does not answer,
// or does again.
export class Wire extends EventTarget {
  // hello() makes the first message of each connection. quietMs: after how long a silence the server is asked
  // whether it is there, for a browser cannot send a websocket's own ping.
  constructor(hello, quietMs) {
    super();
    this.socket = /** @type {any} */ (null);
    this.heardAt = 0;
    this.askedAt = /** @type {number | null} */ (null);
    this.hello = hello;
    this.quietMs = quietMs;
    this.open = false;
    this.closed = false;
    this.silent = false;
    this.wait = FIRST_WAIT;
    this.encoder = new Encoder({ ignoreUndefined: true });
    this.decoder = new Decoder();
    this.connect();
    this.beating = setInterval(() => this.beat(), BEAT_MS);
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/`, SUBPROTOCOL);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.addEventListener("open", () => socket.send(this.encoder.encode({ type: "hello", ...this.hello() })));
    socket.addEventListener("message", (event) => this.socket === socket && this.take(event.data));
    socket.addEventListener("close", () => this.socket === socket && this.lose());
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  take(data) {
    const message = this.decoder.decode(new Uint8Array(data));
    this.hear();
    if (message.type === "welcome") {
      this.open = true;
      this.wait = FIRST_WAIT;
      this.tell("welcome", message);
      this.tell("open");
    } else if (message.type === "error" && !this.open) {
      this.tell("refused", message);
    } else if (message.type === "error" && message.code === "replaced") {
      this.close();
      this.tell("replaced");
    } else {
      this.tell(message.type, message);
    }
  }

  hear() {
    this.heardAt = performance.now();
    this.askedAt = null;
    if (!this.silent) return;
    this.silent = false;
    this.tell("heard");
  }

  // Is the server still there? A page that nobody sees does not ask: its timers hardly run.
  beat() {
    if (!this.open || document.hidden) {
      this.askedAt = null;
      this.heardAt = performance.now();
      return;
    }
    const now = performance.now();
    if (this.askedAt === null && now - this.heardAt > this.quietMs) {
      this.askedAt = now;
      this.say("ping");
    }
    const waited = this.askedAt === null ? 0 : now - this.askedAt;
    if (waited > PATIENCE_MS && !this.silent) {
      this.silent = true;
      this.tell("silent");
    }
    if (waited > GIVE_UP_MS) {
      const { socket } = this;
      this.lose(); // a socket without a network closes only after minutes
      socket.close();
    }
  }

  lose() {
    const was = this.open;
    this.open = false;
    this.silent = false;
    this.askedAt = null;
    this.socket = null;
    if (this.closed) return;
    this.tell(was ? "lost" : "failed");
    // All who watch lose a server that restarts at once; they need not all return at once.
    setTimeout(() => this.closed || this.connect(), this.wait * (0.75 + 0.5 * Math.random()));
    this.wait = Math.min(LONGEST_WAIT, this.wait * 2);
  }

  // Whether it could be said.
  say(type, fields) {
    if (this.open) this.socket.send(this.encoder.encode({ type, ...fields }));
    return this.open;
  }

  close() {
    this.closed = true;
    this.open = false;
    clearInterval(this.beating);
    this.socket?.close();
    this.socket = null;
  }
}
