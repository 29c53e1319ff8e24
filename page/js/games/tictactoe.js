// Tic-tac-toe, as games/tictactoe.py has it: cells 0 to 8 row by row, Maxie plays X.

export const LINES = [
  [0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6],
];

export class TicTacToe {
  static title = "Tic-tac-toe";

  width = 3;
  height = 3;

  start() {
    return { cells: ".".repeat(9), player: "maxie", ply: 0 };
  }

  moves(position) {
    if (this.outcome(position)) return [];
    return [...position.cells].flatMap((mark, cell) => (mark === "." ? [cell] : []));
  }

  play({ cells, player, ply }, cell) {
    const mark = player === "maxie" ? "X" : "O";
    const next = player === "maxie" ? "minnie" : "maxie";
    return { cells: cells.slice(0, cell) + mark + cells.slice(cell + 1), player: next, ply: ply + 1 };
  }

  line({ cells }) {
    return LINES.find(([a, b, c]) => cells[a] !== "." && cells[a] === cells[b] && cells[a] === cells[c]);
  }

  outcome(position) {
    const line = this.line(position);
    if (line) return { winner: position.cells[line[0]] === "X" ? "maxie" : "minnie", reason: "line" };
    return position.cells.includes(".") ? null : { winner: null, reason: "board_full" };
  }

  text(cell) {
    return this.square(cell);
  }

  square(cell) {
    return `${"abc"[cell % 3]}${Math.floor(cell / 3) + 1}`;
  }
}
