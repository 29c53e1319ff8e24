"""Dots and Boxes: the player who draws the last side of a box wins it, and moves again."""

from __future__ import annotations

from dataclasses import dataclass

from arena import MAXIE, MINNIE, Game, Outcome, Player


@dataclass(frozen=True)
class DotsPosition:
    sides: str  # "." or "#" for each side, in the order of `ends`
    boxes: str  # "." while it is open, else X for Maxie and O for Minnie
    player: Player


class DotsAndBoxes(Game[DotsPosition, int]):
    name = "dots"

    def __init__(self, columns=2, rows=2):
        self.columns, self.rows = columns, rows
        across = [(row, column, 0) for row in range(rows + 1) for column in range(columns)]
        down = [(row, column, 1) for row in range(rows) for column in range(columns + 1)]
        number = {side: n for n, side in enumerate(sorted(across + down))}
        self.boxes = [
            tuple(number[side] for side in ((r, c, 0), (r + 1, c, 0), (r, c, 1), (r, c + 1, 1)))
            for r in range(rows)
            for c in range(columns)
        ]

    @classmethod
    def from_setup(cls, setup):
        return cls(**setup)

    def setup(self):
        return {"columns": self.columns, "rows": self.rows}

    def start(self):
        count = self.columns * (self.rows + 1) + self.rows * (self.columns + 1)
        return DotsPosition("." * count, "." * len(self.boxes), MAXIE)

    def player(self, position):
        return position.player

    def ply(self, position):
        return position.sides.count("#")

    def moves(self, position):
        return tuple(n for n, side in enumerate(position.sides) if side == ".")

    def successor(self, position, move):
        sides = position.sides[:move] + "#" + position.sides[move + 1 :]
        letter = "X" if position.player is MAXIE else "O"
        boxes = "".join(
            letter if mark == "." and all(sides[side] == "#" for side in box) else mark
            for mark, box in zip(position.boxes, self.boxes, strict=True)
        )
        moves_again = boxes != position.boxes
        return DotsPosition(sides, boxes, position.player if moves_again else position.player.opponent)

    def estimate(self, position):
        return position.boxes.count("X") - position.boxes.count("O")

    def outcome(self, position):
        if "." in position.sides:
            return None
        ahead = self.estimate(position)
        if not ahead:
            return Outcome(None, "equal boxes")
        return Outcome(MAXIE if ahead > 0 else MINNIE, "most boxes", margin=abs(ahead))

    def picture(self, position):
        sides = iter(position.sides)
        marks = iter(position.boxes)
        lines = []
        for row in range(self.rows + 1):
            # the sides are numbered row by row, each dot's side to the right before its side downwards
            right, below = [], []
            for column in range(self.columns + 1):
                if column < self.columns:
                    right.append("--" if next(sides) == "#" else "  ")
                if row < self.rows:
                    below.append("|" if next(sides) == "#" else " ")
                    if column < self.columns:
                        below.append(next(marks).replace(".", " ").ljust(2))
            lines += ["+" + "+".join(right) + "+", "".join(below)]
        return "\n".join(lines[:-1])
