"""Opens many connections and sends each handshake a byte at a time, never finishing one."""

import socket
import sys
import time
from urllib.parse import urlsplit

from testkit.wire import print_report, read_arguments

url, _, _ = read_arguments()
count, seconds = int(sys.argv[4]), float(sys.argv[5])
address = urlsplit(url)
request = f"GET / HTTP/1.1\r\nHost: {address.netloc}\r\nUpgrade: websocket\r\nX-Slow: ".encode()
sockets = [socket.create_connection((address.hostname or "", address.port or 0)) for _ in range(count)]
end = time.monotonic() + seconds
sent = 0
while sockets and time.monotonic() < end:
    byte = request[sent : sent + 1] or b"a"
    sent += 1
    for each in sockets[:]:
        try:
            each.sendall(byte)
        except OSError:
            sockets.remove(each)
    time.sleep(0.05)
print_report(type="cut", cut=count - len(sockets), of=count)
