// Riskless, as games/riskless.py has it: positions keep signed armies, Maxie's above 0.

// Return how many armies take an empty territory, in words.
export const moveIn = (/** @type {number} */ came) => `${came} ${came === 1 ? "army moves" : "armies move"} in`;

// Return which territories could retake a territory, as weigh() has them, in words.
const threatWords = (/** @type {any[]} */ threats) => threats.map(({ name, armies }, n) => (n ? `${name} with ${armies}` : `${name} can retake it with ${armies}`)).join(", ");

export class Riskless {
  static title = "Riskless";

  constructor(setup) {
    this.setup = setup;
    this.names = setup.territories;
    this.neighbours = setup.neighbours;
    this.cap = setup.territory_cap;
    this.scores = new WeakMap(); // of each position: many parts of the page ask for it
  }

  start() {
    const armies = this.setup.start.map((each) => (each ? (each[0] === "maxie" ? each[1] : -each[1]) : 0));
    return { armies, player: "maxie", ply: 0 };
  }

  moves(position) {
    if (this.outcome(position)) return [];
    const sign = position.player === "maxie" ? 1 : -1;
    return position.armies.flatMap((n, v) => (n * sign > 0 ? this.neighbours[v].map((w) => [v, w]) : []));
  }

  play(position, [source, target]) {
    const sign = position.player === "maxie" ? 1 : -1;
    const train = (n) => Math.sign(n) * Math.min(Math.abs(n) + 1, this.cap);
    const after = sign * (position.armies[source] + position.armies[target]);
    const armies = position.armies.map((n) => (n ? train(n) : 0));
    armies[source] = sign;
    // A tie is won by the attacker, who then holds the target with nobody on it.
    armies[target] = sign * (after >= 0 ? Math.min(after + 1, this.cap) : Math.max(after - 1, -this.cap));
    return { armies, player: sign > 0 ? "minnie" : "maxie", ply: position.ply + 1 };
  }

  outcome({ armies, ply }) {
    const maxie = armies.reduce((sum, n) => sum + Math.max(n, 0), 0);
    const minnie = armies.reduce((sum, n) => sum + Math.max(-n, 0), 0);
    if (!maxie || !minnie) return { winner: maxie ? "maxie" : "minnie", reason: "elimination" };
    const goal = this.setup.armies_to_win;
    if (maxie >= goal && minnie >= goal) return { winner: null, reason: "both_armies" };
    if (maxie >= goal || minnie >= goal) return { winner: maxie >= goal ? "maxie" : "minnie", reason: "armies" };
    return ply >= this.setup.ply_limit ? { winner: null, reason: "ply_limit" } : null;
  }

  text([source, target]) {
    return `${this.names[source]} → ${this.names[target]}`;
  }

  // What a move did: "took", "joined", "won" or "lost" a fight; the armies that came and that stood there.
  told(position, [source, target]) {
    const sign = position.player === "maxie" ? 1 : -1;
    const came = sign * position.armies[source];
    const there = sign * position.armies[target];
    if (there < 0) return { what: came + there >= 0 ? "won" : "lost", came, stood: -there };
    return { what: there ? "joined" : "took", came, stood: there };
  }

  // Return what a move would do, as told() has it, the armies on its target after it, and the territories from which the next move could take
  // its target, each with the armies that it would have then, the strongest first.
  weigh(position, move) {
    const told = this.told(position, move);
    const after = this.play(position, move);
    const replies = told.what === "lost" ? [] : this.moves(after).filter((reply) => reply[1] === move[1] && this.told(after, reply).what === "won");
    const threats = replies.map(([from]) => ({ from, name: this.names[from], armies: Math.abs(after.armies[from]) })).sort((a, b) => b.armies - a.armies);
    return { ...told, left: Math.abs(after.armies[move[1]]), threats };
  }

  // Return what a move would do, in a few words, and which replies would undo it.
  foretell(position, move) {
    const { what, came, stood, left, threats } = this.weigh(position, move);
    const words = { won: `${came} vs ${stood}: win${came === stood ? " the tie" : ""}`, lost: `${came} vs ${stood}: lose`, joined: `${came} join ${stood}`, took: moveIn(came) }[what] + `, ${left} after`;
    return threats.length ? `${words} · ${threatWords(threats.slice(0, 2))}` : words;
  }

  score(position) {
    const known = this.scores.get(position);
    if (known) return known;
    const score = { maxie: { armies: 0, places: 0, growth: 0 }, minnie: { armies: 0, places: 0, growth: 0 } }; // growth: armies that the next move trains
    for (const n of position.armies) {
      if (!n) continue;
      const own = n > 0 ? score.maxie : score.minnie;
      own.armies += Math.abs(n);
      own.places += 1;
      if (Math.abs(n) < this.cap) own.growth += 1;
    }
    this.scores.set(position, score);
    return score;
  }
}
