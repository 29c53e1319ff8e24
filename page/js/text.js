// How things are put into words.

import { GAMES } from "./games/index.js";

export const SEATS = ["maxie", "minnie"];
export const other = (seat) => (seat === "maxie" ? "minnie" : "maxie");
export const SEAT_NAMES = { maxie: "Maxie", minnie: "Minnie" };
export const GAME_NAMES = Object.fromEntries(Object.entries(GAMES).map(([name, game]) => [name, game.title]));

export const REASONS = {
  elimination: "no territory left",
  armies: "enough armies",
  both_armies: "both reached the winning total",
  ply_limit: "the ply limit",
  line: "three in a line",
  board_full: "the board is full",
  adjudicated: "by adjudication",
  resignation: "resignation",
  crash: "a crash",
  timeout: "out of time",
  illegal_move: "an illegal move",
  disconnect: "a lost connection",
  protocol_error: "a broken protocol",
  no_show: "not ready in time",
  server_fault: "a fault of the server",
  no_moves: "no move left",
  breakthrough: "a breakthrough",
};

export const reason = (word) => REASONS[word] || word.replaceAll("_", " ");

// Why a match ended, with the rule where it was ended by adjudication.
const why = (end) =>
  end.reason === "adjudicated" && end.detail ? `${reason(end.reason)} (${end.detail})` : reason(end.reason);

// Why a match ended in a word or two, for a list of matches.
export const shortly = (end) =>
  end.reason === "adjudicated" && (end.detail || "").startsWith("repetition:") ? "repetition" : reason(end.reason);

// The ply that an address names; null for the newest, and for what is no ply.
export const plyOf = (text) => (/^[0-9]{1,7}$/.test(text ?? "") ? Number(text) : null);

export function result(end, players) {
  if (end.reason === "server_fault") return `Void: ${end.detail || reason(end.reason)}`;
  if (!end.winner) return `Draw: ${why(end)}`;
  return `${players[end.winner]} (${SEAT_NAMES[end.winner]}) wins: ${why(end)}`;
}

export function clock(ms) {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 20) return seconds.toFixed(1);
  const whole = Math.floor(seconds);
  const pad = (n) => String(n).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const rest = `${pad(Math.floor((whole % 3600) / 60))}:${pad(whole % 60)}`;
  return hours ? `${hours}:${rest}` : rest;
}

export function spent(ms) {
  if (ms < 1) return "<1 ms";
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10000 ? 1 : 0)} s`;
}

export function control(tc) {
  if (typeof tc === "string") return tc;
  return tc.per_move ? `${tc.base_ms / 1000}/move` : `${tc.base_ms / 1000}+${tc.increment_ms / 1000}`;
}

export function count(n) {
  if (n >= 1e9) return `${(n / 1e9).toFixed(1)} G`;
  if (n >= 1e6) return `${(n / 1e6).toFixed(1)} M`;
  return n >= 1e4 ? `${(n / 1e3).toFixed(0)} k` : String(n);
}

// What chooses a bot's moves, with its options as a person writes them, and the threads that it searches with.
export function engine({ name, options, threads }) {
  const given = Object.entries(options ?? {}).map(([option, value]) => `${option}=${value}`).join(",");
  const spec = given ? `${name}:${given}` : name;
  return threads ? `${spec} · ${plural(threads, "thread")}` : spec;
}

export function when(iso) {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  return date.toLocaleString(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
}

export const plural = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

// A whole number, of which none is "-0".
export const whole = (n) => String(Math.round(n) + 0);

// The bot that a player is of: in a ladder of many matches at once a bot's second process plays as NAME#2.
export const botOf = (name) => name.replace(/(?<=.)#[1-9][0-9]*$/, "");
