"""Where everything is in the memory of a search: one flat array of words a thread, one shared by all.

A thread's memory is its registers, then FRAMES frames of a search stack, then the moves of those
frames, then the order of the root's moves. Frame 0 begins at FIRST; a frame is the position (`words` of the
kernel) and behind it the fields of class Frame. `Sizes` says how large the parts are in one game.

The shared memory is the signals and options, then for each thread SPLITS records of split points.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

FRAMES = 256
"""More than twice the deepest search: jobs taken while waiting lie on the same stack."""
MAX_DEPTH = 100
SPLITS = 16
LINE = 8
"""Words in a cache line: what two threads write is at least so far apart."""


class Register(IntEnum):
    """The registers of a thread, at the beginning of its memory."""

    AT = 0  # where the present frame is
    VALUE = 1  # what the child of the present frame is worth to the player of that frame
    NODES = 2
    ESTIMATES = 3  # leaves of which a deeper search could tell more, and answers of the table
    INSIDE = 4  # the innermost split point that it works under, or -1
    THREAD = 5
    LISTS = 6  # where the move lists begin
    ROOT = 7  # where the order of the root's moves is
    WIDTH = 8  # of a move list
    ENTERED = 9  # nodes that were not leaves
    COUNTED = 10  # nodes that Shared.NODES knows of
    WAITED = 11  # how often it has looked for work since it had some
    CHOSEN = 12  # how many of the root's moves are searched
    SOME = 13  # whether these are not all of them
    LAZY = 14  # whether it searches the root beside another thread, until that says QUIT
    END = 15


FIRST = -(-int(Register.END) // LINE) * LINE
"""Where frame 0 begins: on a line of its own, as all frames do."""


class Frame(IntEnum):
    """The fields of a node, behind its position. Values are for its player to move."""

    DEPTH = 0
    DISTANCE = 1
    ALPHA = 2  # rises with the best move
    BETA = 3
    FLOOR = 4  # alpha as the node was entered
    BEST = 5
    BEST_MOVE = 6
    COUNT = 7  # moves
    NEXT = 8  # how many of them were begun
    MOVE = 9  # the one that is being searched
    INDEX = 10  # and its place in the order
    STAGE = 11  # how it is being searched
    EDGE = 12  # above which value it would be the best move
    KEY = 13
    SPLIT = 14  # the split point at this node, or -1
    ROLE = 15
    OUTER = 16  # register INSIDE of before
    HINT = 17  # the table's move
    ORDER = 18  # in what state the move list is
    LIST = 19  # where it is
    FIXED = 20  # the course's form: the alpha that all later moves are searched with
    FIXED_MOVE = 21  # and the best move at that time
    PLACE = 23  # of the move in the order; 0 is searched with the whole window
    CLAIMED = 22  # this is the one full search at its split point
    END = 24


class Order(IntEnum):
    """The state of a move list."""

    RAW = 0  # moves in move order
    SCORED = 1  # from NEXT on, words that hold score and move
    FINAL = 2  # moves in the order of search


class Role(IntEnum):
    """What a frame is to a split point."""

    NONE = 0
    OWNER = 1
    HELPER = 2


class Stage(IntEnum):
    """How a move is being searched."""

    FULL = 0
    TEST = 1  # null window: is it better than the best so far?


class Shared(IntEnum):
    """Signals, each on a line of its own, and options."""

    STOP = 0
    QUIT = 8
    IDLE = 16
    NODES = 24
    SPLITS = 64


class Option(IntEnum):
    """What the caller chose; places in the shared memory."""

    THREADS = 32
    NODE_LIMIT = 33
    PLIES_LEFT = 34  # until the match is a draw, from the root
    TABLE = 35  # use the transposition table's values
    HINTS = 36  # use the table's moves
    PROMISE = 37
    EXACT = 40
    TEMPO = 42  # what having the move is worth
    SPREAD = 43  # how far a ply moves the value beyond that
    SPLIT_DEPTH = 44
    COURSE = 45  # Jamboree as the course has it
    PRUNE = 46  # of a thousand moves, how many in sequence
    GENERATION = 47
    NULL_WINDOWS = 48  # tests before full searches, also without Jamboree
    TABLE_MASK = 49
    MOVES = 50
    SPLIT_WORDS = 51
    SETTLE = 52  # whether an estimate far outside the window ends a shallow search
    LATE = 53  # how many moves a ply of depth a shallow search looks at; 0: all
    PIECES = 54  # leaves are looked up where a player has at most so many territories; 0: none
    BEYOND = 55  # the most plies that a leaf's value may look ahead: those of the longest win in a table
    FORESEE = 56  # leaves are told from the node above them, where the game can
    END = 64


class Split(IntEnum):
    """A split point; behind the fields come the position and the choices."""

    LOCK = 0
    OPEN = 1
    CUT = 2
    MEMBERS = 3
    PARENT = 4
    NEXT = 5
    COUNT = 6
    PREFIX = 7  # all moves before this one are done
    SEARCHING = 8  # a search with the full window is under way
    ALPHA = 9
    BETA = 10
    BEST = 11
    BEST_MOVE = 12
    DEPTH = 13
    DISTANCE = 14
    FIXED = 15
    FIXED_MOVE = 16
    SKIPPED = 17  # moves that were searched before it was opened
    END = 24


class State(IntEnum):
    """What has become of a move of a split point."""

    OPEN = 0
    RUNNING = 1
    PENDING = 2  # a test found it better than alpha: to be searched again
    DONE = 3


class Choice(IntEnum):
    """A move of a split point."""

    MOVE = 0
    STATE = 1
    TESTED = 2  # the value that it beat in a null window
    END = 3


@dataclass(frozen=True)
class Sizes:
    """The sizes of one game's memories, in words."""

    words: int
    moves: int

    @property
    def frame(self) -> int:
        return -(-(self.words + Frame.END) // LINE) * LINE

    @property
    def move_lists(self) -> int:
        """Where the move lists begin in a thread's memory."""
        return FIRST + FRAMES * self.frame

    @property
    def root(self) -> int:
        """The order of the root's moves."""
        return self.move_lists + FRAMES * self.moves

    @property
    def thread(self) -> int:
        return self.root + self.moves + LINE

    @property
    def split(self) -> int:
        return -(-(Split.END + self.words + 3 * self.moves) // LINE) * LINE

    def shared(self, threads: int) -> int:
        return Shared.SPLITS + threads * SPLITS * self.split


UNFIXED = -3_000_000
"""What FIXED holds while the window may still move; it is below every value."""
