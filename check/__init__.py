"""`arena check`: a scripted server that tests whether a bot follows the protocol.

Each arrow points from a module to what it uses:

    commands/check -> run -> checks -> scripted_match -> bot_connection -> the bot under test, over a websocket
                              |
                            scripted_server -> processes.child: the bot's process

The scripted server has no lobby and no matchmaker: each check sends messages that a real server might send, and examines
the bot's answers.
"""
