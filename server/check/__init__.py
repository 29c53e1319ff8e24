"""`arena check`: a scripted server that tests whether a bot follows the protocol.

    commands/check -> run -> checks -> scene -> peer -> the bot under test, over a real websocket
                              |
                            stage -> processes.child: the bot's process

The scripted server uses neither the referee nor the lobby: each check sends messages that a server might send, and checks
the bot's answers.
"""
