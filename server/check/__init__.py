"""`arena check`: a scripted server that finds out whether a bot obeys the protocol.

    commands/check -> run -> checks -> scene -> peer -> the bot under test, over a real websocket
                              |
                            stage -> processes.child: the bot's process

It knows no referee and no lobby: each check says what a server might, and judges what comes back.
"""
