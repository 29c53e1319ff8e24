// A websocket with the bots' protocol, which reconnects by itself.

import { Decoder, Encoder } from "../vendor/msgpack/msgpack.mjs";

const SUBPROTOCOL = "arena.v1.msgpack";
const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 5000;
const BEAT_MS = 125;
const PATIENCE_MS = 700; // from a ping to the report that the server does not answer
const GIVE_UP_MS = 8000; // from a ping to a new connection

// Every server message is dispatched under its type, as `event.detail`. Other events: "open" after each welcome,
// "lost" after the loss of an open connection, "failed" after each failed attempt, "refused" if a hello is rejected, "replaced" if
// the session continues elsewhere (this wire is then closed), "silent" and "heard" if the server stops answering
// and when it answers again.
export class Wire extends EventTarget {
  // hello() returns the first message of each connection. quietMs: silence after which the server is pinged with
  // a message, because a browser cannot send a websocket ping.
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
    this.wait = FIRST_WAIT_MS;
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
      this.wait = FIRST_WAIT_MS;
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

  // Ping the server. A hidden page does not ping, because its timers hardly run.
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
    // When a server restarts, it loses all spectators at once; spread their reconnections.
    setTimeout(() => this.closed || this.connect(), this.wait * (0.75 + 0.5 * Math.random()));
    this.wait = Math.min(MAX_WAIT_MS, this.wait * 2);
  }

  // Send a message. Returns false if there is no connection.
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
