"""Memory layout of a search: one flat array of words for each thread, and a shared one.

A thread's memory contains its registers, FRAMES frames of a search stack, the move lists of those frames, and the order
of the root's moves. Frame 0 begins at FIRST. A frame contains a position, whose size is `Kernel.words`, followed by the
fields of class Frame. `Sizes` has the sizes of these parts for one game.

The shared memory contains the signals and options, then for each thread SPLITS records of split points.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

FRAMES = 256
"""Number of frames, more than twice the maximum depth: work taken while waiting uses the same stack."""
SPLITS = 16
LINE = 8
"""Words in a cache line, the minimum distance between data written by different threads."""


class Register(IntEnum):
    """Registers of a thread, at the beginning of its memory."""

    AT = 0  # start of the current frame
    VALUE = 1  # value of the current frame's child for the current frame's player
    NODES = 2
    ESTIMATES = 3  # leaves whose value a deeper search could change, and answers of the table
    INSIDE = 4  # innermost split point above this thread's work, or -1
    THREAD = 5
    LISTS = 6  # start of the move lists
    ROOT = 7  # start of the order of the root's moves
    WIDTH = 8  # size of a move list, in words
    ENTERED = 9  # nodes that were not leaves
    COUNTED = 10  # nodes that are already added to Shared.NODES
    WAITED = 11  # number of looks for work since the last work
    CHOSEN = 12  # number of the root's moves to search
    SOME = 13  # 1 if these are not all moves
    END = 14


FIRST = -(-int(Register.END) // LINE) * LINE
"""Start of frame 0, on its own cache line like all frames."""


class Frame(IntEnum):
    """Fields of a node, after its position. Values are for the node's player to move."""

    DEPTH = 0
    DISTANCE = 1
    ALPHA = 2  # rises with the best move
    BETA = 3
    FLOOR = 4  # alpha when the node was entered
    BEST = 5
    BEST_MOVE = 6
    COUNT = 7  # number of moves
    NEXT = 8  # number of moves begun
    MOVE = 9  # move being searched
    INDEX = 10  # its index at the split point
    STAGE = 11  # stage of its search
    EDGE = 12  # value that it must exceed to be the best move
    KEY = 13
    SPLIT = 14  # split point at this node; valid only if ROLE is not NONE
    ROLE = 15
    OUTER = 16  # previous value of register INSIDE
    HINT = 17  # the table's move
    ORDER = 18  # state of the move list
    LIST = 19  # start of the move list
    FIXED = 20  # alpha for all later moves in the course's form of Jamboree
    FIXED_MOVE = 21  # best move when FIXED was set
    PLACE = 23  # place of the move in the order; 0 is searched with the whole window
    CLAIMED = 22  # 1 if this is the only full search at its split point
    END = 24


class ListState(IntEnum):
    """State of a move list."""

    RAW = 0  # moves in move order
    SCORED = 1  # from NEXT on, words with score and move
    FINAL = 2  # moves in search order


class SplitRole(IntEnum):
    """Role of a frame at a split point."""

    NONE = 0
    OWNER = 1
    HELPER = 2


class SearchStage(IntEnum):
    """Window of a move's search."""

    FULL = 0
    TEST = 1  # null window: is it better than the best so far?


class Shared(IntEnum):
    """Signals, each on its own cache line, and the start of the split points."""

    STOP = 0
    QUIT = 8
    IDLE = 16
    NODES = 24
    SPLITS = 64


class Option(IntEnum):
    """Indices of the caller's options in the shared memory."""

    THREADS = 32
    NODE_LIMIT = 33
    PLIES_LEFT = 34  # plies from the root until the match is a draw
    TABLE = 35  # use the transposition table's values
    HINTS = 36  # use the table's moves
    PROMISE = 37
    EXACT = 40
    TEMPO = 42  # value of having the move
    SPREAD = 43  # further change of the value by a ply
    SPLIT_DEPTH = 44
    COURSE = 45  # use the course's form of Jamboree
    PRUNE = 46  # moves searched in sequence, in thousandths
    GENERATION = 47
    NULL_WINDOWS = 48  # test before full searches, also without Jamboree
    TABLE_MASK = 49
    SPLIT_WORDS = 51
    SETTLE = 52  # end a shallow search if its estimate is far outside the window
    LATE = 53  # moves that a shallow search examines for each ply of depth; 0 for all
    FORESEE = 54  # value leaves from the node above them, if the game can
    END = 64


class Split(IntEnum):
    """Fields of a split point, which are followed by the position and the moves."""

    LOCK = 0
    OPEN = 1
    CUT = 2
    MEMBERS = 3
    PARENT = 4
    NEXT = 5
    COUNT = 6
    PREFIX = 7  # all moves before this index are done
    SEARCHING = 8  # 1 while a search with the full window is running
    ALPHA = 9
    BETA = 10
    BEST = 11
    BEST_MOVE = 12
    DEPTH = 13
    DISTANCE = 14
    FIXED = 15
    FIXED_MOVE = 16
    SKIPPED = 17  # number of moves begun before it was opened
    END = 24


class MoveState(IntEnum):
    """State of a move at a split point."""

    OPEN = 0
    RUNNING = 1
    PENDING = 2  # to be searched again, because a test found it better than alpha
    DONE = 3


class SplitMove(IntEnum):
    """Fields of a move at a split point."""

    MOVE = 0
    STATE = 1
    TESTED = 2  # value that it exceeded in a null window
    END = 3


@dataclass(frozen=True)
class Sizes:
    """Sizes of one game's memories, in words."""

    words: int
    moves: int

    @property
    def frame_words(self) -> int:
        return -(-(self.words + Frame.END) // LINE) * LINE

    @property
    def move_lists(self) -> int:
        """Return the start of the move lists in a thread's memory."""
        return FIRST + FRAMES * self.frame_words

    @property
    def root_order(self) -> int:
        """Return the start of the order of the root's moves in a thread's memory."""
        return self.move_lists + FRAMES * self.moves

    @property
    def thread_words(self) -> int:
        return self.root_order + self.moves + LINE

    @property
    def split_words(self) -> int:
        return -(-(Split.END + self.words + 3 * self.moves) // LINE) * LINE

    def shared_words(self, threads: int) -> int:
        return Shared.SPLITS + threads * SPLITS * self.split_words


UNFIXED = -3_000_000
"""Value of FIXED while the window may still change; lower than every search value."""
