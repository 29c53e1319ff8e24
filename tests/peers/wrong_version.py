"""Offers only a version of the protocol that does not exist; prints what it is told."""

from testkit.bare import open_websocket
from testkit.wire import print_report, read_arguments

url, _, _ = read_arguments()
try:
    open_websocket(url, "arena.v9.msgpack").close()
except ConnectionError as refusal:
    head, _, body = str(refusal).partition("\r\n\r\n")
    print_report(type="refused", status=head.splitlines()[0], body=body)
