// Pictures of the rules of Riskless: four small boards, each with one move, which is played once.

import { MapBoard } from "../boards/map.js";
import { Riskless } from "../games/riskless.js";
import { isStill } from "../preferences.js";

const STEP_MS = 1000; // from the move of one picture to that of the next
const MAP = {
  territories: ["Oslo", "Riga", "Kyiv", "Rome"],
  neighbours: [[1, 3], [0, 2, 3], [1, 3], [0, 1, 2]],
  places: [[0, 2], [20, 0], [40, 2], [20, 13]],
  territory_cap: 50, armies_to_win: 50, ply_limit: 100,
};
const LESSONS = /** @type {{ start: any[], move: [number, number] }[]} */ ([
  { start: [["maxie", 3], null, ["minnie", 2], null], move: [0, 1] },
  { start: [["maxie", 1], ["maxie", 4], ["minnie", 3], null], move: [1, 3] },
  { start: [["maxie", 2], ["maxie", 7], ["minnie", 3], ["minnie", 1]], move: [1, 2] },
  { start: [["maxie", 5], ["maxie", 9], ["minnie", 4], null], move: [1, 2] },
]);

export class Lessons {
  constructor() {
    this.pictures = LESSONS.map(({ start, move }) => {
      const game = new Riskless({ ...MAP, start });
      const before = game.start();
      return { board: new MapBoard(game, () => null, { whole: true }), before, move, after: game.play(before, move) };
    });
    this.elements = this.pictures.map(({ board }) => board.element);
  }

  // Play the moves one after the other. With reduced motion, show what they lead to.
  play() {
    clearInterval(this.timer);
    const due = [...this.pictures];
    const next = () => {
      const { board, before, move, after } = due.shift() ?? {};
      board?.show(after, move, before);
      if (!due.length) clearInterval(this.timer);
    };
    if (isStill()) {
      while (due.length) next();
      return;
    }
    for (const { board, before } of this.pictures) board.show(before, null, null);
    this.timer = setInterval(next, STEP_MS);
  }
}
