// A bot in JavaScript that implements the protocol itself:
//
//     npm install ws @msgpack/msgpack && ARENA_URL=ws://127.0.0.1:8765 ARENA_NAME=script node bot.js
"use strict";
const { WebSocket } = require("ws");
const { decode, encode } = require("@msgpack/msgpack");

const URL = process.env.ARENA_URL || "ws://127.0.0.1:8765";
const LINES = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]];
const hello = {
  type: "hello", name: process.env.ARENA_NAME || "script", token: process.env.ARENA_TOKEN || "",
  session: "", games: ["tictactoe", "riskless"], matches: 4, program: "examples/bot.js",
};
const starts = new Map(); // match -> its start
const answers = new Map(); // match -> the last move message
let tries = 0;

const any = (list) => list[Math.floor(Math.random() * list.length)];

function tictactoe(start, moves) { // complete a line, else block one, else take any free cell
  const free = [...Array(9).keys()].filter((cell) => !moves.includes(cell));
  for (const parity of [moves.length % 2, 1 - (moves.length % 2)]) {
    const cells = moves.filter((_, ply) => ply % 2 === parity);
    for (const line of LINES) {
      const left = line.filter((cell) => !cells.includes(cell));
      if (left.length === 1 && free.includes(left[0])) return left[0];
    }
  }
  return any(free);
}

function play(before, [source, target], seat, cap) { // section 13 of the protocol
  const board = before.map((each) => each && { ...each });
  const armies = board[source].armies;
  const there = board[target];
  board[source].armies = 0;
  if (!there || there.seat === seat) board[target] = { seat, armies: armies + (there ? there.armies : 0) };
  else if (armies >= there.armies) board[target] = { seat, armies: armies - there.armies };
  else there.armies -= armies;
  for (const each of board) if (each) each.armies = Math.min(cap, each.armies + 1);
  return board;
}

function riskless({ setup, seat: me }, moves) { // return the move that leaves us the largest lead in armies and territories
  const cap = setup.territory_cap;
  let board = setup.start.map((each) => each && { seat: each[0], armies: each[1] });
  moves.forEach((move, ply) => { board = play(board, move, ply % 2 ? "minnie" : "maxie", cap); });
  let best = null;
  board.forEach((each, source) => {
    if (!each || each.seat !== me) return;
    for (const target of setup.neighbours[source]) {
      let worth = Math.random();
      for (const after of play(board, [source, target], me, cap))
        if (after) worth += (after.armies + 3) * (after.seat === me ? 1 : -1);
      if (!best || worth > best.worth) best = { worth, move: [source, target] };
    }
  });
  return best.move;
}

function answer(message) { // return the answer to a message, or null
  const { type, match, ply } = message;
  if (type === "welcome") hello.session = message.session; // to come back with
  if (type === "start") {
    starts.set(match, message);
    return { type: "ready", match };
  }
  if (type === "turn" && starts.has(match)) {
    let last = answers.get(match);
    if (!last || last.ply < ply) { // else the turn came again, and so goes the answer
      const choose = { tictactoe, riskless }[starts.get(match).game];
      last = { type: "move", match, ply, move: choose(starts.get(match), message.moves) };
      answers.set(match, last);
    }
    return last.ply === ply ? last : null;
  }
  if (type === "end" && starts.delete(match)) {
    answers.delete(match);
    console.log(`${match}: ${message.winner || "nobody"} won: ${message.detail}`);
  }
  return type === "error" ? void console.log(`the server says: ${message.detail}`) : null;
}

function connect() {
  const socket = new WebSocket(URL, ["arena.v1.msgpack"], { perMessageDeflate: false, maxPayload: 2 ** 22 });
  const say = (message) => socket.send(encode(message));
  socket.on("open", () => say(hello));
  socket.on("message", (data) => {
    tries = 0;
    for (const reply of [answer(decode(data))]) if (reply) say(reply);
  });
  socket.on("error", (error) => console.log(`the connection: ${error.message}`));
  socket.on("close", (code, why) => { // 1000: the event is over; after 1001 the server comes back
    const pause = 100 * 2 ** (tries = Math.min(tries + 1, 7)) * (0.5 + Math.random() / 2);
    if (code !== 1000 && !/bad_|replaced/.test(why)) setTimeout(connect, pause);
  });
}

connect();
