"""Error codes of the protocol, and the reasons why a match ends.

Each member has a `meaning`, from which the tables of PROTOCOL.md are generated.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self

MAX_CODE_LENGTH = 64
"""Maximum number of characters of an error code or end reason on the wire."""


class _WireStringEnum(StrEnum):
    """Base of enums whose members are words sent on the wire. Each member also has a text that explains it, `meaning`."""

    meaning: str

    def __new__(cls, word: str, meaning: str = "") -> Self:
        member = str.__new__(cls, word)
        member._value_ = word
        member.meaning = meaning
        return member

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        """Return a new member for a word that the enum lacks, such as one of a later version; None for an invalid word."""
        if not isinstance(value, str) or not 1 <= len(value) <= MAX_CODE_LENGTH:
            return None
        unknown = str.__new__(cls, value)
        unknown._name_ = "UNKNOWN"
        unknown._value_ = value
        unknown.meaning = "a word that this version does not know"
        return unknown


class ErrorCode(_WireStringEnum):
    """Error code, as sent in an `error` message."""

    BAD_MESSAGE = "bad_message", "the frame is not a message: not msgpack, not a map, a wrong type or value"
    TOO_LARGE = "too_large", "the frame is larger than `welcome.limits.message_bytes`"
    UNKNOWN_TYPE = "unknown_type", "the server knows no message of this type; the message was ignored"
    HELLO_FIRST = "hello_first", "the first message of a connection must be `hello`"
    HELLO_TWICE = "hello_twice", "this connection has already sent `hello`; the second one was ignored"
    BAD_NAME = "bad_name", "a name must be 1 to 64 printable characters"
    BAD_TOKEN = "bad_token", "the token is missing, unknown or revoked, or belongs to another name"
    NAME_TAKEN = "name_taken", "a bot of that name is connected"
    SERVER_FULL = "server_full", "the server accepts no more connections now"
    NO_SUCH_MATCH = "no_such_match", "the match does not exist, is over, or is not this bot's"
    NOT_STARTED = "not_started", "the match waits for both players to be ready"
    ILLEGAL_MOVE = "illegal_move", "the rules do not allow the move; the match is lost"
    OUT_OF_TURN = (
        "out_of_turn",
        "it is the opponent's turn, or the ply is still to come; the move was ignored",
    )
    STALE_PLY = "stale_ply", "another move was already played at that ply; the move was ignored"
    TOO_MANY_FAULTS = "too_many_faults", "too many rejected messages in one match; the match is lost"
    TOO_SLOW = "too_slow", "the client does not read its messages fast enough; the connection is closed"
    REPLACED = "replaced", "the same session has connected again; this connection is closed"
    RATE_LIMITED = "rate_limited", "too many messages, connections or attempts in a short time"
    NO_SUCH_CHALLENGE = "no_such_challenge", "the challenge does not exist, is over, or is not this bot's"
    BAD_CHALLENGE = (
        "bad_challenge",
        "the challenge can never be played: its game, map, time control or opponent is not allowed",
    )
    OPPONENT_UNAVAILABLE = (
        "opponent_unavailable",
        "the challenged bot is not connected, or does not take this match now",
    )
    NO_SUCH_EVENT = "no_such_event", "the event does not exist, is over, or does not admit this bot"
    OTHER_RULES = "other_rules", "the rules of the game differ between the server and the bot"
    UNKNOWN_NAME = (
        "unknown_name",
        "`hello` names a game, map or time control that does not exist here; `detail` has the nearest one",
    )
    NOT_A_PLAYER = "not_a_player", "a spectator can neither play nor challenge"
    SHUTTING_DOWN = (
        "shutting_down",
        "the server stops, and continues its matches after its restart; the connection is closed",
    )
    REMOVED = (
        "removed",
        "the host has removed this client or its address, and `detail` says why; the connection is closed",
    )
    EVENT_OVER = "event_over", "the event is over, and no more matches are played; the connection is closed"


class EndReason(_WireStringEnum):
    """Reason for the end of a match: `end.reason`, and `result.reason` in a record.

    A custom game can have reasons of its own, such as `four_in_a_row`, which are kept unchanged.
    """

    ELIMINATION = "elimination", "a player has no territory left"
    ARMIES = "armies", "a player's armies reached the winning total"
    BOTH_ARMIES = "both_armies", "both players reached the winning total at once: a draw"
    PLY_LIMIT = "ply_limit", "the ply limit was reached: a draw"
    LINE = "line", "three in a line"
    BOARD_FULL = "board_full", "the board is full: a draw"
    BREAKTHROUGH = "breakthrough", "a pawn reached the last row"
    NO_MOVES = "no_moves", "the player to move has no legal move"
    ADJUDICATED = "adjudicated", "the host ended the match by an adjudication rule, named in `detail`"
    RESIGNATION = "resignation", "a player resigned"
    CRASH = "crash", "a player's bot failed: an exception, a value that is not a move, or a process that died"
    TIMEOUT = "timeout", "a player's time ran out"
    ILLEGAL_MOVE = "illegal_move", "a player made a move that the rules do not allow"
    DISCONNECT = "disconnect", "a player's connection was lost, and the player did not reconnect in time"
    PROTOCOL_ERROR = "protocol_error", "a player broke the protocol"
    NO_SHOW = "no_show", "a player was not ready in time; if neither was, nobody wins"
    SERVER_FAULT = "server_fault", "the server failed; the match is void and counts for nobody"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        unknown = super()._missing_(value)
        if unknown is not None:
            unknown.meaning = unknown.value.replace("_", " ")
        return unknown


FORFEIT_REASONS = frozenset(
    {
        EndReason.CRASH,
        EndReason.TIMEOUT,
        EndReason.ILLEGAL_MOVE,
        EndReason.DISCONNECT,
        EndReason.PROTOCOL_ERROR,
        EndReason.NO_SHOW,
    }
)
"""End reasons by which a player loses because of its own failure (such as a crash), not by play. Tables count such losses
separately.
"""
