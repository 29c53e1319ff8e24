// Texts for values, results and times.

import { GAMES } from "./games/index.js";

export const SEATS = ["maxie", "minnie"];
export const other = (seat) => (seat === "maxie" ? "minnie" : "maxie");
export const SEAT_NAMES = { maxie: "Maxie", minnie: "Minnie" };
export const SIDES = { maxie: "Blue", minnie: "Orange" }; // by colour, for readers who do not analyse
export const GAME_NAMES = Object.fromEntries(Object.entries(GAMES).map(([name, game]) => [name, game.title]));

const MAP_TITLES = { m1: "Ring of six", m2: "Grid of sixteen", path4: "Path of four" };

// A map's name as a title: italy is Italy, and usa is USA.
export const mapTitle = (name) => (Object.hasOwn(MAP_TITLES, name) ? MAP_TITLES[name] : /^[a-z]{1,3}[0-9]*$/.test(name) ? name.toUpperCase() : /^[a-z]/.test(name) && !name.includes(":") ? name[0].toUpperCase() + name.slice(1) : name);

// Whether the short form of a place's name is of a few words, as in "West. US", and no code of capital letters.
export const isOfWords = (short) => /[a-z]/.test(short ?? "");

export const LARGE_MAPS = ["italy", "world", "usa", "poland"]; // in the order in which they are offered

// Return names of maps in the order in which they are offered: the large maps first, then the others as given.
export const inMapOrder = (names) => [...LARGE_MAPS.filter((each) => names.includes(each)), ...names.filter((each) => !LARGE_MAPS.includes(each))];

// Return what a reader chooses a map by. The length is the median of matches between equal engines, rounded.
export function mapFacts({ territories, armies_to_win: goal, measured }) {
  const moves = parseFloat(measured[Math.floor(measured.length / 2)]?.plies);
  const about = moves < 30 ? Math.round(moves) : 10 * Math.round(moves / 10);
  return [plural(territories, "territory", "territories"), `first to ${goal} armies`, moves ? `about ${about} moves` : ""].filter(Boolean).join(", ");
}

// A bot's name as a title: the server's own house-alphabeta is House AlphaBeta, all others keep their names.
export function botTitle(name) {
  const known = /^house-(.+)/s.exec(name)?.[1].replace("alphabeta", "alphaBeta").replaceAll("-", " ");
  return known ? `House ${known[0].toUpperCase()}${known.slice(1)}` : name;
}

// Return the program of a connected bot, unless its name says it, and how many of its matches are in progress, in words.
export const presence = ({ name, program, matches, capacity, benched, house }) =>
  [!house && program !== name && program, benched || (matches ? `playing ${matches} of ${capacity}` : "ready to play")].filter(Boolean).join(" · ");

// An event's name as a title. The open pool is an event, too.
export const OPEN_POOL = "serve";
export const eventTitle = (name) => (name === OPEN_POOL ? "Open pool" : name);

// Return the game for a title: "Italy" is enough for a map, other games have their name.
export const gameTitle = (game, map = "") => (game === "riskless" && map ? mapTitle(map) : [GAME_NAMES[game] ?? game, map].filter(Boolean).join(" "));

export const REASONS = {
  elimination: "elimination",
  armies: "goal reached",
  both_armies: "both reached the goal",
  ply_limit: "move limit",
  line: "three in a row",
  board_full: "full board",
  adjudicated: "adjudication",
  resignation: "resignation",
  crash: "crash",
  timeout: "time ran out",
  illegal_move: "illegal move",
  disconnect: "lost connection",
  protocol_error: "protocol error",
  no_show: "no-show",
  server_fault: "server error",
  no_moves: "no moves left",
  breakthrough: "breakthrough",
};

export const reason = (word) => REASONS[word] || word.replaceAll("_", " ");

// Phrases for the end of a match: after "wins", with the loser's name where a word is in braces, and after "Draw".
const WIN_PHRASES = {
  elimination: "by elimination",
  armies: "by reaching the goal",
  line: "with three in a row",
  adjudicated: "by adjudication",
  resignation: "by resignation",
  timeout: "on time",
  breakthrough: "with a breakthrough",
  no_moves: "because {loser} cannot move",
  crash: "because {loser} crashed",
  illegal_move: "because {loser} made an illegal move",
  disconnect: "because {loser} lost the connection",
  protocol_error: "because {loser} broke the protocol",
  no_show: "because {loser} did not show up",
};
const DRAW_PHRASES = {
  both_armies: "as both reached the goal",
  ply_limit: "at the move limit",
  board_full: "with a full board",
  adjudicated: "by adjudication",
  no_show: "because nobody showed up",
};

// Return how a match ended, as it follows the winner or "Draw"; a reason of a user-defined game follows a colon.
export function how({ winner, reason: word, detail }, players) {
  const known = winner ? WIN_PHRASES : DRAW_PHRASES;
  if (word === "adjudicated" && detail?.startsWith("repetition:")) return " by repetition";
  return Object.hasOwn(known, word) ? ` ${known[word].replace("{loser}", () => players[other(winner)])}` : `: ${reason(word)}`;
}

// Return the ply in an address; null for the newest, and for an invalid ply.
export const plyOf = (text) => (/^[0-9]{1,7}$/.test(text ?? "") ? Number(text) : null);

// Return the result of a match in a sentence, as in "ann wins on time".
export function result(end, players, wins = "wins") {
  if (end.reason === "server_fault") return "Void: server error";
  return `${end.winner ? `${players[end.winner]} ${wins}` : "Draw"}${how(end, players)}`;
}

// Return the result of a match in one word, which follows the winner's name. `seat`: the reader's seat; null for a spectator.
export function outcome({ winner, reason: word }, seat = /** @type {string | null} */ (null)) {
  if (word === "server_fault") return "Void";
  if (!winner) return "Draw";
  return winner === seat ? "win" : "wins";
}

// Return the rule by which a match was adjudicated, or the error of the server; empty for other ends.
const detailOf = ({ reason: word, detail }) => (["adjudicated", "server_fault"].includes(word) ? (detail ?? "").replace(/^repetition: /, "") : "");

// Return the result with its detail.
export function explained(end, players) {
  const detail = detailOf(end);
  if (!detail) return result(end, players);
  return end.reason === "server_fault" ? `Void: ${detail}` : `${result(end, players)}: ${detail}`;
}

// Return the headline of a match's end. `seat`: the reader's seat; null for a spectator.
function headline({ winner, reason: word }, players, seat = /** @type {string | null} */ (null)) {
  if (word === "server_fault") return "The match is void";
  if (!winner) return "Draw";
  if (!seat) return `${players[winner]} wins`;
  return `You ${winner === seat ? "won" : word === "resignation" ? "resigned" : "lost"}`;
}

// Return the end of a match in two parts: the headline with the armies of both players, as in "ann wins 918 : 109", and the reason, as
// in "reached 900 armies". A draw has no armies, which need not be equal, and a reader who resigned has neither armies nor a reason. `seat`: the reader's seat,
// whose armies come first; null for a spectator.
export function ending(match, seat = /** @type {string | null} */ (null)) {
  const { end, game, last, players } = match;
  const first = seat ?? end.winner;
  const hasResigned = seat && end.winner !== seat && end.reason === "resignation";
  const score = end.winner && !hasResigned && game.score?.(last);
  const armies = score ? ` ${score[first].armies}\u00a0:\u00a0${score[other(first)].armies}` : "";
  return [`${headline(end, players, seat)}${armies}`, end.reason === "server_fault" ? detailOf(end) || "server error" : why(match, seat)];
}

function why({ end, players, setup: { armies_to_win: goal } }, seat) {
  if (seat && end.winner && end.winner !== seat) return end.reason === "resignation" ? "" : explained(end, players);
  if (goal && end.reason === "armies") return `reached ${goal} armies`;
  if (goal && end.reason === "both_armies") return `both reached ${goal} armies`;
  const detail = detailOf(end);
  return `${how(end, players)}${detail && `: ${detail}`}`.replace(/^:? /, "");
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

// A time control as a title: 300+3 is 5 min + 3 s, and 30/move is 30 s a move.
export function timeTitle(text) {
  const [, base, rest] = /^([0-9.]+)(\/move|\+[0-9.]+)$/.exec(text) ?? [];
  if (!base) return text;
  if (rest === "/move") return `${base} s a move`;
  const minutes = Number(base) / 60;
  const time = minutes >= 1 && Number.isInteger(minutes) ? `${minutes} min` : `${base} s`;
  return rest === "+0" ? time : `${time} + ${rest.slice(1)} s`;
}

export function count(n) {
  if (n >= 1e9) return `${(n / 1e9).toFixed(1)} G`;
  if (n >= 1e6) return `${(n / 1e6).toFixed(1)} M`;
  return n >= 1e4 ? `${(n / 1e3).toFixed(0)} k` : String(n);
}

// Return a bot's engine with its options as a person writes them, and its number of search threads.
export function engine({ name, options, threads }) {
  const given = Object.entries(options ?? {}).map(([option, value]) => `${option}=${value}`).join(",");
  const spec = given ? `${name}:${given}` : name;
  return threads ? `${spec} · ${plural(threads, "thread")}` : spec;
}

// The format of times and that of dates are made once, because to make one takes longer than all else of a row of matches.
let times = /** @type {Intl.DateTimeFormat | null} */ (null);
let dates = /** @type {Intl.DateTimeFormat | null} */ (null);

export function when(iso) {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  times ??= new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "numeric", minute: "2-digit" });
  return times.format(date);
}

// Return the date of a time, as in 3 Nov 2026.
export function dateOf(iso) {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  dates ??= new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
  return dates.format(at);
}

// Return the day of a time: Today, Yesterday, or its date.
export function day(iso) {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  const midnight = (at) => new Date(at.getFullYear(), at.getMonth(), at.getDate()).getTime();
  const ago = Math.round((midnight(new Date()) - midnight(date)) / 86_400_000);
  if (ago < 2) return ago < 1 ? "Today" : "Yesterday";
  return date.toLocaleDateString(undefined, { weekday: "long", month: "long", day: "numeric" });
}

// Return the number of spectators of a live match, unless the reader is the only one.
export const watched = ({ watching }) => (watching > 1 ? `${watching} watching` : "");

export const plural = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

// Return a number as text, with a minus as long as a plus.
export const minus = (n) => String(n).replace("-", "−");

// Return a number as text, with a plus if it is above 0.
export const signed = (n) => `${n > 0 ? "+" : ""}${minus(n)}`;

// Return a whole number as text, never "−0".
export const whole = (n) => minus(Math.round(n) + 0);

// Return the bot of a player: in a ladder, a bot's second process plays as NAME#2.
export const botOf = (name) => name.replace(/(?<=.)#[1-9][0-9]*$/, "");
