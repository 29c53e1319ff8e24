"""Opens connection after connection and keeps them all; prints how many the server left it."""

import socket
import sys
from http.client import HTTPConnection
from urllib.parse import urlsplit

from testkit.wire import print_report, read_arguments

url, _, _ = read_arguments()
address = urlsplit(url)
sockets = []
for _attempt in range(int(sys.argv[4])):
    try:
        sockets.append(socket.create_connection((address.hostname or "", address.port or 0), timeout=500))
    except OSError:
        continue
# The server takes connections as they come: once one more is answered, of another address, all these are let in or refused.
last = HTTPConnection(address.hostname or "", address.port, timeout=500, source_address=("127.0.0.9", 0))
last.request("GET", "/")
last.getresponse()


def alive(each: socket.socket) -> bool:
    each.setblocking(False)
    try:
        return each.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


print_report(type="left", left=sum(map(alive, sockets)))
