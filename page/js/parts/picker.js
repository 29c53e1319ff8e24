// Choice of a move by clicks: first the source, then the target; one click for a move of one cell.

export class Picker {
  constructor(board) {
    this.board = board;
    this.stop();
  }

  // Let the reader choose one of `moves`; `chosen(move)` is called once. `clicks(move)` returns its one or two cells.
  ask(moves, chosen, clicks = (move) => [move].flat()) {
    this.begin(moves, chosen, clicks, null);
  }

  // Choose a premove. `premove`: the chosen one, which any click cancels: chosen(null).
  askAhead(moves, chosen, premove, clicks = (move) => [move].flat()) {
    this.begin(moves, chosen, clicks, { cells: premove === null ? [] : clicks(premove) });
  }

  begin(moves, chosen, clicks, ahead) {
    const { source } = this;
    this.moves = moves.map((move) => ({ move, cells: clicks(move) }));
    this.chosen = chosen;
    this.ahead = ahead;
    // A source chosen before the turn stays chosen when the turn comes.
    this.select(this.moves.some(({ cells }) => cells.length === 2 && cells[0] === source) ? source : null);
  }

  stop() {
    this.moves = [];
    this.chosen = null;
    this.ahead = /** @type {{ cells: any[] } | null} */ (null);
    this.source = null;
    this.board.mark?.(null);
  }

  select(source) {
    this.source = source;
    this.mark();
  }

  // Mark the possible choices.
  mark() {
    const { source } = this;
    const steps = this.moves.filter(({ cells }) => cells.length === 2);
    const targets = source === null
      ? this.moves.filter(({ cells }) => cells.length === 1).map(({ cells }) => cells[0])
      : steps.filter(({ cells }) => cells[0] === source).map(({ cells }) => cells[1]);
    this.board.mark({ sources: new Set(steps.map(({ cells }) => cells[0])), targets: new Set(targets), selected: source, ahead: this.ahead });
  }

  spot(n) {
    if (!this.chosen) return;
    if (this.ahead?.cells.length) {
      this.chosen(null);
      return;
    }
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
