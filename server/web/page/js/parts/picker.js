// A person's move by clicks: first what moves, then where it goes; where a move is one cell, one click.

export class Picker {
  constructor(board) {
    this.board = board;
    this.stop();
  }

  // Let one of `moves` be chosen; `chosen(move)` is told once.
  ask(moves, chosen) {
    this.moves = moves;
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
    const cells = this.moves.filter((move) => typeof move === "number");
    const steps = this.moves.filter((move) => typeof move !== "number");
    const targets = source === null ? cells : steps.filter((move) => move[0] === source).map((move) => move[1]);
    this.board.mark({ sources: new Set(steps.map((move) => move[0])), targets: new Set(targets), selected: source });
  }

  spot(n) {
    if (!this.chosen) return;
    const move = this.moves.find((each) => (typeof each === "number"
      ? each === n
      : this.source !== null && each[0] === this.source && each[1] === n));
    if (move !== undefined) {
      const { chosen } = this;
      this.stop();
      chosen(move);
    } else if (this.moves.some((each) => each[0] === n)) {
      this.select(this.source === n ? null : n);
    } else if (this.source !== null) {
      this.select(null);
    }
  }
}
