// A person's move by clicks: first what moves, then where it goes; where a move is one cell, one click.

export class Picker {
  constructor(board) {
    this.board = board;
    this.stop();
  }

  // Let one of `moves` be chosen; `chosen(move)` is told once. `clicks(move)` has its one or two cells.
  ask(moves, chosen, clicks = (move) => [move].flat()) {
    this.moves = moves.map((move) => ({ move, cells: clicks(move) }));
    this.chosen = chosen;
    this.select(null);
  }

  stop() {
    this.moves = [];
    this.chosen = null;
    this.board.mark?.(null);
  }

  select(source) {
    this.source = source;
    this.mark();
  }

  // Show what may be chosen.
  mark() {
    const { source } = this;
    const steps = this.moves.filter(({ cells }) => cells.length === 2);
    const targets = source === null
      ? this.moves.filter(({ cells }) => cells.length === 1).map(({ cells }) => cells[0])
      : steps.filter(({ cells }) => cells[0] === source).map(({ cells }) => cells[1]);
    this.board.mark({ sources: new Set(steps.map(({ cells }) => cells[0])), targets: new Set(targets), selected: source });
  }

  spot(n) {
    if (!this.chosen) return;
    const found = this.moves.find(({ cells }) => (cells.length === 1
      ? cells[0] === n
      : this.source !== null && cells[0] === this.source && cells[1] === n));
    if (found !== undefined) {
      const { chosen } = this;
      this.stop();
      chosen(found.move);
    } else if (this.moves.some(({ cells }) => cells.length === 2 && cells[0] === n)) {
      this.select(this.source === n ? null : n);
    } else if (this.source !== null) {
      this.select(null);
    }
  }
}
