// Hexapawn, as games/hexapawn.py has it: squares from a1 row by row, Maxie's pawns (W) walk up.

export class Hexapawn {
  static title = "Hexapawn";

  constructor(setup) {
    this.width = setup.width ?? 3;
    this.height = setup.height ?? 3;
  }

  start() {
    const { width, height } = this;
    const squares = "W".repeat(width) + ".".repeat(width * (height - 2)) + "B".repeat(width);
    return { squares, player: "maxie", ply: 0 };
  }

  moves(position) {
    return this.through(position) ? [] : this.steps(position);
  }

  steps({ squares, player }) {
    const [own, enemy, sign] = player === "maxie" ? ["W", "B", 1] : ["B", "W", -1];
    const found = [];
    for (let source = 0; source < squares.length; source++) {
      const ahead = source + sign * this.width;
      if (squares[source] !== own || ahead < 0 || ahead >= squares.length) continue;
      const column = source % this.width;
      if (squares[ahead] === ".") found.push([source, ahead]);
      if (column > 0 && squares[ahead - 1] === enemy) found.push([source, ahead - 1]);
      if (column < this.width - 1 && squares[ahead + 1] === enemy) found.push([source, ahead + 1]);
    }
    return found;
  }

  through({ squares }) {
    if (squares.slice(-this.width).includes("W")) return "maxie";
    return squares.slice(0, this.width).includes("B") ? "minnie" : null;
  }

  play({ squares, player, ply }, [source, target]) {
    const next = [...squares];
    next[target] = next[source];
    next[source] = ".";
    return { squares: next.join(""), player: player === "maxie" ? "minnie" : "maxie", ply: ply + 1 };
  }

  outcome(position) {
    const winner = this.through(position);
    if (winner) return { winner, reason: "breakthrough" };
    if (this.steps(position).length) return null;
    return { winner: position.player === "maxie" ? "minnie" : "maxie", reason: "no_moves" };
  }

  text([source, target]) {
    return `${this.square(source)} → ${this.square(target)}`;
  }

  square(number) {
    return `${String.fromCharCode(97 + (number % this.width))}${Math.floor(number / this.width) + 1}`;
  }
}
