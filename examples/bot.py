"""A bot that speaks the server's protocol itself, with only the packages `websockets` and `msgpack`. To start it:

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


def choose_cell(start, moves):
    """Return the cell to play in tic-tac-toe: a cell that wins, else a cell that prevents the opponent's win, else a random
    cell.

    start: start message of the match, not needed here; moves: cells of all moves so far
    """
    free = [cell for cell in range(9) if cell not in moves]
    for player in (moves[len(moves) % 2 :: 2], moves[1 - len(moves) % 2 :: 2]):
        for line in LINES:
            gaps = [cell for cell in line if cell not in player]
            if len(gaps) == 1 and gaps[0] in free:
                return gaps[0]
    return random.choice(free)


def choose_attack(start, moves):
    """Return the Riskless move that gives this bot the greatest lead in armies; a territory counts as three more armies.

    start: start message of the match; moves: all moves so far, each as [source, target]
    """
    setup, own_seat = start["setup"], start["seat"]
    cap = setup["territory_cap"]
    board = [tuple(holding) if holding else None for holding in setup["start"]]
    for ply, move in enumerate(moves):
        board = play(board, move, ("maxie", "minnie")[ply % 2], cap)

    def evaluate(move):
        holdings = [holding for holding in play(board, move, own_seat, cap) if holding]
        lead = sum((armies + 3) * (1 if seat == own_seat else -1) for seat, armies in holdings)
        return lead + random.random()

    sources = [place for place, holding in enumerate(board) if holding and holding[0] == own_seat]
    attacks = [[source, target] for source in sources for target in setup["neighbours"][source]]
    return max(attacks, key=evaluate)


def play(board, move, seat, cap):
    """Return the board after a move of `seat` in Riskless (PROTOCOL.md, section 13).

    A board has (seat, armies) for each territory, or None for an empty one. At most `cap` armies fit on a territory.
    """
    board, (source, target) = list(board), move
    armies, defence = board[source][1], board[target]
    board[source] = (seat, 0)
    if defence is None or defence[0] == seat:
        board[target] = (seat, armies + (defence[1] if defence else 0))
    elif armies >= defence[1]:
        board[target] = (seat, armies - defence[1])
    else:
        board[target] = (defence[0], defence[1] - armies)
    return [holding and (holding[0], min(cap, holding[1] + 1)) for holding in board]


def make_answer(message):
    """Return the message that answers `message` of the server, or None if it needs no answer."""
    match message:
        case {"type": "welcome", "session": session}:
            hello["session"] = session  # resumes the matches after a lost connection
        case {"type": "start", "match": match}:
            starts[match] = message
            return {"type": "ready", "match": match}
        case {"type": "turn", "match": match, "ply": ply, "moves": moves}:
            last = answers.get(match, {"ply": -1})
            if last["ply"] < ply:  # a repeated turn gets the same answer again
                choose = {"tictactoe": choose_cell, "riskless": choose_attack}[starts[match]["game"]]
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
                if reply := make_answer(msgpack.unpackb(frame)):
                    socket.send(msgpack.packb(reply))
        if socket.close_code == 1000:
            break  # the event is over; after 1001 the server restarts, and the matches continue
    except (OSError, WebSocketException) as error:
        if "bad_token" in str(error):
            raise SystemExit(str(error)) from None  # another attempt would not help
    time.sleep(0.1 * 2 ** (tries := min(tries + 1, 7)) * random.uniform(0.5, 1))
