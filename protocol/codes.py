"""The closed lists of the protocol: error codes and the reasons for which a match ends.

Each member carries its meaning; the tables of PROTOCOL.md are made from these.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self

LONGEST = 64
"""The most characters of a word on the wire."""


class _Explained(StrEnum):
    """A word on the wire, with what it means."""

    meaning: str

    def __new__(cls, word: str, meaning: str) -> Self:
        member = str.__new__(cls, word)
        member._value_ = word
        member.meaning = meaning
        return member

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        """A word of a later version: it is kept as it is, and is no member of the list."""
        if not isinstance(value, str) or not 1 <= len(value) <= LONGEST:
            return None
        unknown = str.__new__(cls, value)
        unknown._name_ = "UNKNOWN"
        unknown._value_ = value
        unknown.meaning = "a word that this version does not know"
        return unknown

    @classmethod
    def named(cls, word: str) -> Self:
        """The member for a word of the wire. Raises KeyError."""
        return cls.__members__[word.upper()]


class Code(_Explained):
    """What an `error` message is about."""

    BAD_MESSAGE = "bad_message", "the frame is not a message: not msgpack, not a map, a wrong type or value"
    TOO_LARGE = "too_large", "the frame is larger than `welcome.limits.message_bytes`"
    UNKNOWN_TYPE = "unknown_type", "no message of that type goes to the server; it was ignored"
    HELLO_FIRST = "hello_first", "the first message of a connection must be `hello`"
    HELLO_TWICE = "hello_twice", "this connection has said `hello` already; the second was ignored"
    BAD_NAME = "bad_name", "a name is 1 to 64 printed characters"
    BAD_TOKEN = "bad_token", "the token is missing, unknown or revoked, or belongs to another name"
    NAME_TAKEN = "name_taken", "a bot of that name is connected"
    SERVER_FULL = "server_full", "no more connections are taken now"
    NO_SUCH_MATCH = "no_such_match", "the match does not exist, is over, or is not this bot's"
    NOT_STARTED = "not_started", "the match waits for both players to be ready"
    ILLEGAL_MOVE = "illegal_move", "the rules do not allow the move; the match is lost"
    OUT_OF_TURN = (
        "out_of_turn",
        "it is the opponent's turn, or the ply is still to come; the move was ignored",
    )
    STALE_PLY = "stale_ply", "the ply was played already, with another move; the move was ignored"
    TOO_MANY_FAULTS = "too_many_faults", "too many rejected messages in one match; the match is lost"
    TOO_SLOW = "too_slow", "the client does not read what it is sent; the connection is closed"
    REPLACED = "replaced", "the same session has connected again; this connection is closed"
    RATE_LIMITED = "rate_limited", "too many messages, connections or tries in a short time"
    NO_SUCH_CHALLENGE = "no_such_challenge", "the challenge does not exist, is over, or is not this bot's"
    BAD_CHALLENGE = (
        "bad_challenge",
        "the challenge names a game, map, time control or bot that cannot be played",
    )
    OTHER_RULES = "other_rules", "a game of that name is played here by other rules than the bot's"
    NOT_A_PLAYER = "not_a_player", "a spectator neither plays nor challenges"
    SHUTTING_DOWN = (
        "shutting_down",
        "the server stops, and goes on with its matches when it is back; the connection is closed",
    )
    EVENT_OVER = "event_over", "the event is over, and nothing more is played here; the connection is closed"


class EndReason(_Explained):
    """Why a match ended: `end.reason`, and `result.reason` in a record.

    A game of somebody's own has reasons of its own beside these, as in `four_in_a_row`: such a word is kept as it is.
    """

    ELIMINATION = "elimination", "a player has no territory left"
    ARMIES = "armies", "a player's armies reached the winning total"
    BOTH_ARMIES = "both_armies", "both players reached the winning total at once: a draw"
    PLY_LIMIT = "ply_limit", "the ply limit was reached: a draw"
    LINE = "line", "three in a line"
    BOARD_FULL = "board_full", "the board is full: a draw"
    BREAKTHROUGH = "breakthrough", "a pawn reached the last row"
    NO_MOVES = "no_moves", "the player to move cannot"
    ADJUDICATED = "adjudicated", "the host ended it by its rules of adjudication; `detail` says by which"
    RESIGNATION = "resignation", "a player resigned"
    CRASH = "crash", "a player's bot failed: an exception, no move of the game, or a process that died"
    TIMEOUT = "timeout", "a player's time ran out"
    ILLEGAL_MOVE = "illegal_move", "a player made a move that the rules do not allow"
    DISCONNECT = "disconnect", "a player's connection was lost and did not come back in time"
    PROTOCOL_ERROR = "protocol_error", "a player broke the protocol"
    NO_SHOW = "no_show", "a player was not ready in time; nobody wins where neither was"
    SERVER_FAULT = "server_fault", "the server failed; the match is void and counts for nobody"

    @classmethod
    def of(cls, word: str) -> Self:
        """The member for a word, or else a game's own reason. Raises ValueError for what is no word."""
        found = cls.__members__.get(word.upper()) or cls._missing_(word)
        if found is None:
            raise ValueError(f"a reason is a word of 1 to {LONGEST} characters, not {word!r:.80}")
        return found

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        unknown = super()._missing_(value)
        if unknown is not None:
            unknown.meaning = unknown.value.replace("_", " ")
        return unknown


FORFEITS = frozenset(
    {
        EndReason.CRASH,
        EndReason.TIMEOUT,
        EndReason.ILLEGAL_MOVE,
        EndReason.DISCONNECT,
        EndReason.PROTOCOL_ERROR,
        EndReason.NO_SHOW,
    }
)
"""The ends that are a player's fault, told apart from play in tables."""
