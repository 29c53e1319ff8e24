"""A bot that implements the protocol itself, in Python with only `websockets` and `msgpack`.

ARENA_URL=ws://127.0.0.1:8765 ARENA_NAME=wire python bot.py
"""

import os
import random
import time

import msgpack
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

URL = os.environ.get("ARENA_URL", "ws://127.0.0.1:8765")
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
hello = {"type": "hello", "games": ["tictactoe", "riskless"], "matches": 4, "program": "examples/bot.py"}
hello |= {"name": os.environ.get("ARENA_NAME", "wire"), "token": os.environ.get("ARENA_TOKEN", "")}
starts, answers = {}, {}  # by match: its start message, and the last move message


def tictactoe(start, moves):
    """Return a cell that completes a line, or else blocks one, or else a random free cell."""
    free = [cell for cell in range(9) if cell not in moves]
    for player in (moves[len(moves) % 2 :: 2], moves[1 - len(moves) % 2 :: 2]):
        for line in LINES:
            gaps = [cell for cell in line if cell not in player]
            if len(gaps) == 1 and gaps[0] in free:
                return gaps[0]
    return random.choice(free)


def riskless(start, moves):
    """Return the move after which our armies and territories exceed those of the opponent by most."""
    setup, me = start["setup"], start["seat"]
    cap = setup["territory_cap"]
    board = [tuple(each) if each else None for each in setup["start"]]
    for ply, move in enumerate(moves):
        board = play(board, move, ("maxie", "minnie")[ply % 2], cap)

    def worth(move):
        after = [each for each in play(board, move, me, cap) if each]
        return sum((armies + 3) * (1 if seat == me else -1) for seat, armies in after) + random.random()

    own = [at for at, each in enumerate(board) if each and each[0] == me]
    return max(([at, to] for at in own for to in setup["neighbours"][at]), key=worth)


def play(board, move, seat, cap):
    """Return the board after a move (PROTOCOL.md, section 13)."""
    board, (source, target) = list(board), move
    armies, there = board[source][1], board[target]
    board[source] = (seat, 0)
    if there is None or there[0] == seat:
        board[target] = (seat, armies + (there[1] if there else 0))
    elif armies >= there[1]:
        board[target] = (seat, armies - there[1])
    else:
        board[target] = (there[0], there[1] - armies)
    return [each and (each[0], min(cap, each[1] + 1)) for each in board]


def answer(message):
    """Return the answer to a message, or None."""
    match message:
        case {"type": "welcome", "session": session}:
            hello["session"] = session  # resumes the matches after a lost connection
        case {"type": "start", "match": match}:
            starts[match] = message
            return {"type": "ready", "match": match}
        case {"type": "turn", "match": match, "ply": ply, "moves": moves}:
            last = answers.get(match, {"ply": -1})
            if last["ply"] < ply:  # a repeated turn gets the same answer again
                choose = {"tictactoe": tictactoe, "riskless": riskless}[starts[match]["game"]]
                last = {"type": "move", "match": match, "ply": ply, "move": choose(starts[match], moves)}
                answers[match] = last
            return last if last["ply"] == ply else None
        case {"type": "end", "match": match, "winner": winner, "detail": detail} if starts.pop(match, None):
            print(f"{match}: {winner or 'nobody'} won: {detail}", flush=True)
            answers.pop(match, None)
        case {"type": "error", "detail": detail}:
            print(f"the server says: {detail}", flush=True)
    return None


tries = 0
while True:
    try:
        with connect(URL, subprotocols=["arena.v1.msgpack"], compression=None, max_size=2**22) as socket:
            socket.send(msgpack.packb(hello))
            for frame in socket:
                tries = 0
                if reply := answer(msgpack.unpackb(frame)):
                    socket.send(msgpack.packb(reply))
        if socket.close_code == 1000:
            break  # the event is over; after 1001 the server restarts, and the matches continue
    except (OSError, WebSocketException) as lost:
        if "bad_token" in str(lost):
            raise SystemExit(str(lost)) from None  # another attempt would not help
    time.sleep(0.1 * 2 ** (tries := min(tries + 1, 7)) * random.uniform(0.5, 1))
