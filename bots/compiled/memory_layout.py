"""Memory layout of a search: one flat array of words for each thread, and a shared one.

A thread's memory contains the fields of class ThreadField, FRAMES_PER_THREAD frames of a search stack, the move lists of
those frames, the order of the root's moves, and the statistics of `bots.compiled.history`. Frame 0 begins at
FIRST_FRAME_OFFSET. A frame contains a position, whose size is `Kernel.words`, followed by the fields of class FrameField.
`MemorySizes` has the sizes of these parts for one game.

The shared memory contains the signals and options, then for each thread SPLITS_PER_THREAD records of split points.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

FRAMES_PER_THREAD = 256
"""Number of frames (one for each node on the current path) of a thread's search stack.

The number is more than twice the maximum search depth. While a thread waits for its helpers, it helps at other split
points, and the frames of that work are on the same stack.
"""
SPLITS_PER_THREAD = 16
"""Maximum number of split points (nodes whose moves several threads search) that a thread can have open at the same time."""
CORRECTION_COUNT = 1 << 14
"""Number of corrections of estimates (`bots.compiled.history`) that a thread stores."""
CACHE_LINE_WORDS = 8
"""Number of 64-bit words in a cache line. Data written by different threads are at least this far apart."""


class ThreadField(IntEnum):
    """Fields of a search thread, such as its current frame and its counters, as offsets in the thread's memory, in words."""

    CURRENT_FRAME_OFFSET = 0  # start of the current frame
    CHILD_VALUE = 1  # value of the current frame's child, for the player to move in the current frame
    NODE_COUNT = 2  # number of nodes visited by this thread, including leaves
    ESTIMATE_COUNT = 3  # number of leaf estimates and table values, which a deeper search could change
    INNERMOST_SPLIT = 4  # innermost split point above this thread's work, or -1
    THREAD_NUMBER = 5  # number of this thread, from 0
    MOVE_LISTS_OFFSET = 6  # start of the move lists
    ROOT_ORDER_OFFSET = 7  # start of the order of the root's moves
    MOVE_LIST_WORDS = 8  # size of a move list, in words
    ENTERED_COUNT = 9  # number of nodes entered by this thread, without leaves
    REPORTED_NODE_COUNT = 10  # part of NODE_COUNT that is already added to SharedField.NODE_COUNT
    FAILED_WORK_CHECK_COUNT = 11  # number of times that this thread looked for work since it last had some
    ROOT_MOVE_COUNT = 12  # number of the root's moves to search
    IS_ROOT_RESTRICTED = 13  # 1 if ROOT_MOVE_COUNT is less than the number of all moves
    HISTORIES_OFFSET = 14  # start of the histories of moves: first Maxie's, then Minnie's
    CORRECTIONS_OFFSET = 15  # start of the corrections of estimates
    ROOT_PLAYER = 16  # 0 if Maxie moves at the root, 1 if Minnie does
    NEXT_STEP = 17  # step of the search loop with which the kernel begins, or goes on after a pause
    NODE_COUNT_AT_PAUSE = 18  # value of NODE_COUNT at the last pause
    TOTAL_WORDS = 19  # size of all fields together, in words


FIRST_FRAME_OFFSET = -(-int(ThreadField.TOTAL_WORDS) // CACHE_LINE_WORDS) * CACHE_LINE_WORDS
"""Offset, in words, of the root's frame in a thread's memory: a multiple of CACHE_LINE_WORDS, as a frame begins a cache line.
"""


class FrameField(IntEnum):
    """Fields of a stack frame (one node of the search), as offsets, in words, from the end of the frame's position.

    Values are for the player to move at the node.
    """

    DEPTH = 0  # plies to search below the node
    DISTANCE_FROM_ROOT = 1  # plies from the root to the node
    ALPHA = 2  # lower bound of the search window; rises with the best move
    BETA = 3  # upper bound of the search window
    INITIAL_ALPHA = 4  # alpha when the node was entered
    BEST_VALUE = 5  # greatest value of a move so far, even if it is not above INITIAL_ALPHA
    BEST_MOVE = 6  # best move so far, or -1 while none is above INITIAL_ALPHA
    MOVE_COUNT = 7  # number of moves
    NEXT_MOVE_INDEX = 8  # number of moves whose search has begun
    CURRENT_MOVE = 9  # move being searched
    SPLIT_MOVE_INDEX = 10  # index of that move at the split point
    SEARCH_KIND = 11  # a SearchKind
    BEST_MOVE_THRESHOLD = 12  # value that the move must exceed to be the best one
    TABLE_KEY = 13  # hash key of the position
    SPLIT_POINT = 14  # split point at this node; valid only if SPLIT_ROLE is not NONE
    SPLIT_ROLE = 15  # a SplitPointRole
    OUTER_SPLIT = 16  # previous value of thread field INNERMOST_SPLIT
    HINT_MOVE = 17  # move that the transposition table has for the position
    MOVE_LIST_STATE = 18  # a MoveListState
    MOVE_LIST_OFFSET = 19  # start of the move list
    FIXED_ALPHA = 20  # alpha for all later moves in the form of Jamboree that a course describes (`bots.compiled.jamboree`)
    FIXED_BEST_MOVE = 21  # best move when FIXED_ALPHA was set
    IS_RE_SEARCH = 22  # 1 if the move is searched a second time, with the whole window
    MOVE_RANK = 23  # place of the move in the search order; 0 is searched with the whole window
    ESTIMATE = 24  # estimate of the node's position, including the tempo; valid only in a selective search
    TOTAL_WORDS = 25  # size of all fields together, in words


class MoveListState(IntEnum):
    """Progress of sorting a node's move list."""

    UNSORTED = 0  # moves in move order
    SCORED = 1  # from NEXT on, words with score and move
    SORTED = 2  # moves in search order


class SplitPointRole(IntEnum):
    """Role of a thread at the split point of a stack frame. A split point is a node whose moves several threads search."""

    NONE = 0  # the node is not split
    OWNER = 1  # this thread opened the split point
    HELPER = 2  # this thread joined it


class SearchKind(IntEnum):
    """Kind of search (by its window and depth) whose value a stack frame will receive next."""

    FULL_WINDOW = 0  # between alpha and beta, to find the exact value
    NULL_WINDOW = 1  # null window, to find whether the move is better than the best so far
    PROBCUT = 2  # null window of a shallower search of the frame's own position
    REDUCED_DEPTH = 3  # null window and a smaller depth


class SharedField(IntEnum):
    """Offsets in the shared memory: signals, each on its own cache line, and the start of the split points."""

    MUST_STOP = 0  # 1 if all threads must stop the search
    HELPERS_MUST_QUIT = 8  # 1 if helpers must return, because the root is searched
    IDLE_THREAD_COUNT = 16  # number of threads that look for work
    NODE_COUNT = 24  # number of nodes of all threads; each adds its own every 32 inner nodes
    SPLIT_POINTS_OFFSET = 64


class SearchOption(IntEnum):
    """Indexes of the search's options in the memory that all threads share, into which the caller writes their values.

    The numbers here are indexes, not the values of the options.
    """

    THREAD_COUNT = 32  # number of search threads
    NODE_LIMIT = 33  # number of nodes of all threads at which the search stops
    PLIES_LEFT_AT_ROOT = 34  # plies from the root until the match is a draw
    USE_TABLE = 35  # 1 to use the transposition table's values, and to search its move first
    ORDER_BY_SCORE = 37  # 1 to search moves in the order of their scores
    IS_EXACT = 40  # 1 to find plain minimax's value, and the first of its best moves
    TEMPO_VALUE = 42  # value of being the player to move
    VALUE_SPREAD = 43  # standard deviation of the change in value when a search goes two plies deeper
    SPLIT_DEPTH = 44  # minimum depth of a node whose moves are shared among threads
    IS_COURSE_FORM = 45  # 1 for the form of Jamboree that a course describes (`bots.compiled.jamboree`)
    PRUNE_PERMILLE = 46  # fraction of moves that the course's form searches in sequence, in thousandths
    TABLE_GENERATION = 47  # number of the root search, modulo TABLE_GENERATION_COUNT
    USE_NULL_WINDOWS = 48  # 1 to test moves with a null window first, also without Jamboree
    TABLE_MASK = 49  # bit mask that selects a bucket of the transposition table by a hash key
    SPLIT_WORDS = 51  # size of a split point, in words
    IS_SELECTIVE = 52  # 1 to prune by estimates and shallower searches, and to use deeper table entries
    EXAMINED_MOVES_AT_DEPTH_1 = 53  # 0: examine all moves, and reduce none at any depth
    VALUE_LEAVES_FROM_PARENT = 54  # 1 to value leaves from the node above them
    NODES_BETWEEN_PAUSES = 55  # number of nodes after which the first thread pauses
    TOTAL_WORDS = 64  # size of all fields together, in words


class SplitField(IntEnum):
    """Fields of a split point (a node whose moves several threads search), followed by the node's position and its moves."""

    LOCK = 0  # 1 while a thread holds the lock
    IS_OPEN = 1  # 1 while this record is in use
    MUST_LEAVE = 2  # 1 if threads must leave: a move reached beta, or the owner was interrupted
    MEMBER_COUNT = 3  # number of threads at the split point, including its owner
    PARENT_SPLIT = 4  # split point above this one, or -1
    NEXT_MOVE_INDEX = 5  # index of the first move that no thread has taken
    MOVE_COUNT = 6  # number of moves
    DONE_PREFIX_LENGTH = 7  # all moves before this index are done
    HAS_RE_SEARCH = 8  # 1 while a search with the full window is running
    ALPHA = 9  # lower bound of the search window
    BETA = 10  # upper bound of the search window
    BEST_VALUE = 11  # greatest value of a move so far
    BEST_MOVE = 12
    DEPTH = 13  # plies to search below the node
    DISTANCE_FROM_ROOT = 14  # plies from the root to the node
    FIXED_ALPHA = 15  # alpha for all moves here, in the form of Jamboree that a course describes (`bots.compiled.jamboree`)
    FIXED_BEST_MOVE = 16  # best move when FIXED_ALPHA was set
    MOVE_COUNT_BEFORE_SPLIT = 17  # number of moves begun before it was opened
    TOTAL_WORDS = 24  # size of all fields together, in words


class MoveState(IntEnum):
    """Progress of a move at a split point (a node whose moves several threads search)."""

    UNTAKEN = 0
    RUNNING = 1
    NEEDS_RE_SEARCH = 2  # to be searched again: a test with a null window found it better than alpha
    DONE = 3


class SplitMoveField(IntEnum):
    """Fields of a move at a split point (a node whose moves several threads search)."""

    MOVE = 0
    MOVE_STATE = 1
    TEST_THRESHOLD = 2  # value that the move exceeded in its test with a null window
    TOTAL_WORDS = 3  # size of all fields together, in words


@dataclass(frozen=True)
class MemorySizes:
    """Sizes and offsets of the parts of a thread's memory in the search of one game, in words."""

    position_words: int
    """Size of a position, in words."""
    move_list_words: int
    """Size of a node's list of moves, in words: the number of different moves of the game."""

    @property
    def frame_words(self) -> int:
        return -(-(self.position_words + FrameField.TOTAL_WORDS) // CACHE_LINE_WORDS) * CACHE_LINE_WORDS

    @property
    def move_lists_offset(self) -> int:
        """Return the offset, in words, of the nodes' lists of moves in a thread's memory."""
        return FIRST_FRAME_OFFSET + FRAMES_PER_THREAD * self.frame_words

    @property
    def root_order_offset(self) -> int:
        """Return where a thread's memory holds the order of the root's moves, in words from the start of this memory."""
        return self.move_lists_offset + FRAMES_PER_THREAD * self.move_list_words

    @property
    def histories_offset(self) -> int:
        """Return the offset, in words, of the histories of moves (scores by which moves are ordered) in a thread's memory."""
        return self.root_order_offset + self.move_list_words

    @property
    def corrections_offset(self) -> int:
        """Return the offset, in words, of the corrections of estimates in a thread's memory."""
        return self.histories_offset + 2 * self.move_list_words

    @property
    def thread_memory_words(self) -> int:
        return self.corrections_offset + CORRECTION_COUNT + CACHE_LINE_WORDS

    @property
    def split_words(self) -> int:
        return (
            -(-(SplitField.TOTAL_WORDS + self.position_words + 3 * self.move_list_words) // CACHE_LINE_WORDS)
            * CACHE_LINE_WORDS
        )

    def count_shared_memory_words(self, thread_count: int) -> int:
        return SharedField.SPLIT_POINTS_OFFSET + thread_count * SPLITS_PER_THREAD * self.split_words


NO_FIXED_ALPHA_VALUE = -3_000_000
"""Value of `FrameField.FIXED_ALPHA` while alpha is not fixed; lower than every search value."""
