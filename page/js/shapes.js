// The shapes of the server's answers, as far as the page relies on them. A name that ends in "?" is optional; a list has the
// shape of each of its items; "any" is not checked, and a shape that may be null is written [null, shape] by `or`.

const or = (...shapes) => ({ or: shapes });
const list = (shape) => ({ list: shape });
const byName = (shape) => ({ byName: shape });

const players = { maxie: "string", minnie: "string" };
const result = { winner: or("null", "string"), reason: "string" };
const past = { match: "string", event: "string", game: "string", map: or("null", "string"), players, finished: "string", plies: "number", result };
const matches = { matches: list(past), next: or("null", "string") };
const standing = {
  game: "string", bot: "string", rating: "number", deviation: "number", matches: "number", won: "number", drawn: "number", lost: "number",
};
const crosses = list({ bot: "string", opponent: "string", won: "number", drawn: "number", lost: "number" });

const token = { name: "string", token: "string" };
const owner = { owner: "string", bots: list({ name: "string", retired: or("null", "string") }), left: "number", until: "string", events: list({ event: "string", state: "string", begins: "string", bots: list("string") }) };

const SHAPES = {
  about: { anyone: "boolean", guests: "boolean", house: list("string"), games: list("string"), maps: list("string"), map: "string", page: "string" },
  records: matches,
  search: matches,
  record: { format: "string", match: "string", game: "string", setup: "object", players, moves: list({ move: "any" }), result },
  maps: list({ name: "string", description: "string", territories: "number", roads: "number", measured: "list" }),
  map: { continents: "list", wraps: "boolean", cells: or("null", "list"), ferries: "list", marks: or("null", "list"), short_names: "list", setup: { neighbours: "list", places: "list", start: "list" } },
  table: or({ standings: list(standing), crosses: byName(crosses), events: list({ event: "string", matches: "number" }), categories: list({ game: "string", map: "string", time_control: "string" }), seasons: list({ game: "string", name: "string", closed: "string" }) }, { rows: list({ bot: "string" }), crosses, counted: "number" }),
  event: { event: "string", plan: or("null", "object"), counted: "number", finished: "boolean", cancel_reason: "string" },
  versus: list({ game: "string", won: "number", drawn: "number", lost: "number" }),
  bot: { standings: list(standing), history: "object", matches: list(past) },
  advice: { engine: "string", depth: "number", value: "number", line: list("string"), lines: list({ value: "number", line: list("string") }) },
  review: { players: byName({ accuracy: "number" }), moves: list({ mark: "string", chance: "number", chance_lost: "number", line: list("string") }) },
  openings: { examined: "number", moves: list({ move: "string", maxie: "number", drawn: "number", minnie: "number" }) },
  truth: or("null", list({ kind: "string", now: "string" })),
  join: or(owner, token),
  me: owner,
  host: {
    bots: or("null", list({ name: "string", owner: "string", program: "string", matches: "number", capacity: "number", suspended: "string", forfeits: "number", address: or("null", "string"), seconds: or("null", "number") })),
    spectators: "number", directives: list({ kind: "string", subject: "string", text: "string", until: "string" }),
    renames: list({ name: "string", other: "string", problem: or("null", "string") }),
  },
  token,
  log: { match: "string", steps: list({ at: "number", what: "string", wrong: "string" }) },
  game: { board: "any", positions: list({ player: "string" }), legal: list({ move: "any", text: "string" }) },
};

// Return the expected shape of an answer to a request such as "record/ID" or "table?event=NAME".
export const shapeOf = (path) => SHAPES[path.split(/[/?]/)[0]] ?? "any";

// Return the first difference of an answer from its shape, such as "matches[3].plies is not a number"; empty if there is none.
export function mismatch(value, shape, at = "") {
  const where = at || "it";
  if (shape === "any") return "";
  if (typeof shape === "string") return kind(value) === shape ? "" : `${where} is not a ${shape}`;
  if (shape.or) {
    const wrong = shape.or.map((each) => mismatch(value, each, at));
    return wrong.includes("") ? "" : wrong[wrong.length - 1];
  }
  if (shape.list) return kind(value) === "list" ? first(value.map((each, n) => mismatch(each, shape.list, `${at}[${n}]`))) : `${where} is not a list`;
  if (kind(value) !== "object") return `${where} is not an object`;
  if (shape.byName) return first(Object.entries(value).map(([name, each]) => mismatch(each, shape.byName, `${at}.${name}`)));
  return first(Object.entries(shape).map(([name, each]) => (Object.hasOwn(value, name) ? mismatch(value[name], each, at ? `${at}.${name}` : name) : `${at ? `${at}.` : ""}${name} is missing`)));
}

const first = (wrong) => wrong.find(Boolean) ?? "";
const kind = (value) => (value === null ? "null" : Array.isArray(value) ? "list" : typeof value);
