// One websocket in the bots' own protocol, which comes back by itself when it is lost.

import { Decoder } from "../vendor/msgpack/Decoder.mjs";
import { Encoder } from "../vendor/msgpack/Encoder.mjs";

const SUBPROTOCOL = "arena.v1.msgpack";
const FIRST_WAIT = 250;
const LONGEST_WAIT = 5000;

export class Wire extends EventTarget {
  // hello() makes the first message of each connection; every server message is dispatched under its type,
  // as `event.detail`. "open" follows each welcome, "lost" each loss, "refused" a hello that is not taken.
  constructor(hello) {
    super();
    this.hello = hello;
    this.open = false;
    this.closed = false;
    this.wait = FIRST_WAIT;
    this.encoder = new Encoder({ ignoreUndefined: true });
    this.decoder = new Decoder();
    this.connect();
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/`, SUBPROTOCOL);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.addEventListener("open", () => socket.send(this.encoder.encode({ type: "hello", ...this.hello() })));
    socket.addEventListener("message", (event) => this.take(event.data));
    socket.addEventListener("close", () => this.lose());
  }

  take(data) {
    const message = this.decoder.decode(new Uint8Array(data));
    if (message.type === "welcome") {
      this.open = true;
      this.wait = FIRST_WAIT;
      this.dispatchEvent(new CustomEvent("welcome", { detail: message }));
      this.dispatchEvent(new CustomEvent("open"));
      return;
    }
    if (message.type === "error" && !this.open) {
      this.dispatchEvent(new CustomEvent("refused", { detail: message }));
      return;
    }
    this.dispatchEvent(new CustomEvent(message.type, { detail: message }));
  }

  lose() {
    const was = this.open;
    this.open = false;
    if (this.closed) return;
    if (was) this.dispatchEvent(new CustomEvent("lost"));
    // All who watch lose a server that restarts at once; they need not all return at once.
    setTimeout(() => this.closed || this.connect(), this.wait * (0.75 + 0.5 * Math.random()));
    this.wait = Math.min(LONGEST_WAIT, this.wait * 2);
  }

  say(type, fields) {
    if (this.open) this.socket.send(this.encoder.encode({ type, ...fields }));
    return this.open;
  }

  close() {
    this.closed = true;
    this.socket.close();
  }
}
