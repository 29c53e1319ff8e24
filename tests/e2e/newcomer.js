// A client that was written from PROTOCOL.md alone, for the tests: it knows one address, plays tic-tac-toe, comes back as
// sections 9 and 10 say, and prints a line of JSON for all that it was told and has to rely on.
//
//     node newcomer.js URL NAME THINK-MS          plays until standard input ends, then takes no more and ends its matches
"use strict";
const { WebSocket } = require("ws");
const { decode, encode } = require("@msgpack/msgpack");

const [url, name, think] = [process.argv[2], process.argv[3], Number(process.argv[4])];
const SILENT_MS = 25000; // the server pings every 10 s: one that says nothing for so long is gone
const starts = new Map(); // match -> its start
const sent = new Map(); // match -> the last move that was sent
let session = "";
let settled = false; // whether the server has said that it takes no more
let quota; // how many more matches it takes; undefined for as many as come
let graceMs = 30000;
let pause = 100;
let socket = null;

const report = (what) => process.stdout.write(`${JSON.stringify({ at: new Date().toISOString(), ...what })}\n`);
const say = (to, message) => to.readyState === WebSocket.OPEN && to.send(encode(message));

function choose(moves) {
  const free = [...Array(9).keys()].filter((cell) => !moves.includes(cell));
  return free[Math.floor(Math.random() * free.length)];
}

function take(here, message) {
  const { type, match, ply } = message;
  switch (type) {
    case "welcome":
      session = message.session;
      graceMs = message.limits.grace_ms;
      report({ type, connection: session !== "" });
      // section 10: a match that was in play may be over, and its end have been told to nobody
      for (const each of starts.keys()) say(here, { type: "ready", match: each });
      if (quota === 0) say(here, { type: "status", quota });
      break;
    case "start":
      starts.set(match, message);
      report({ type, match, seat: message.seat });
      say(here, { type: "ready", match });
      break;
    case "turn": {
      if (!starts.has(match)) return;
      const last = sent.get(match);
      if (last && last.ply === ply) { say(here, last); return; } // it came again, and so goes the answer
      if (last && last.ply > ply) return;
      const move = { type: "move", match, ply, move: choose(message.moves) };
      sent.set(match, move);
      setTimeout(() => say(here, move), Math.random() * think);
      break;
    }
    case "accepted": {
      const last = sent.get(match);
      if (last && last.ply === ply) report({ type, match, ply, move: last.move });
      break;
    }
    case "end":
      sent.delete(match);
      if (starts.delete(match)) report({ type, match, winner: message.winner, reason: message.reason });
      leave();
      break;
    case "standing":
      settled = quota === 0 && message.quota === 0;
      leave();
      break;
    case "error":
      // section 4: an error that is not fatal ends nothing
      report({ type, code: message.code, fatal: message.fatal, match });
      if (message.code === "no_such_match") { starts.delete(match); sent.delete(match); leave(); }
      break;
  }
}

// section 5, status: a start that was sent before the answer counts
function leave() {
  if (settled && starts.size === 0) process.exit(0);
}

function connect() {
  const here = new WebSocket(url, ["arena.v1.msgpack"], { perMessageDeflate: false, maxPayload: 2 ** 22, handshakeTimeout: 5000 });
  let silence = null;
  let began = 0;
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(() => here.terminate(), SILENT_MS);
  };
  socket = here;
  here.on("open", () => {
    began = Date.now();
    heard();
    say(here, { type: "hello", name, session, games: ["tictactoe"], matches: 2, ...(quota === undefined ? {} : { quota }) });
  });
  here.on("ping", heard);
  here.on("message", (data) => { heard(); take(here, decode(data)); });
  here.on("error", () => {}); // a close follows
  here.on("close", (code, why) => {
    clearTimeout(silence);
    report({ type: "closed", code, why: String(why) });
    if (code === 1000 || /bad_|replaced/.test(String(why))) process.exit(1);
    // section 10
    if (began && Date.now() - began > pause) pause = code === 1001 ? 1000 : 100;
    const most = starts.size ? Math.min(60000, graceMs / 3) : 60000;
    setTimeout(connect, pause * (0.5 + Math.random() / 2));
    pause = Math.min(2 * pause, most);
  });
}

process.stdin.on("end", () => {
  quota = 0;
  if (socket) say(socket, { type: "status", quota });
}).resume();
connect();
