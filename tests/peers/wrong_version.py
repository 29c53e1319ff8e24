"""Offers only a version of the protocol that does not exist; prints what it is told."""

from testkit.bare import shake_hands
from testkit.wire import arguments, report

url, _, _ = arguments()
try:
    shake_hands(url, "arena.v9.msgpack").close()
except ConnectionError as refusal:
    head, _, body = str(refusal).partition("\r\n\r\n")
    report(type="refused", status=head.splitlines()[0], body=body)
