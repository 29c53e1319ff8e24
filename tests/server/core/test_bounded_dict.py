"""Dict with a maximum size."""

from arena.server.core.bounded_dict import BoundedDict


def test_the_key_that_was_set_least_recently_is_forgotten() -> None:
    numbers = BoundedDict[str, int](2)
    numbers["first"] = 1
    numbers["second"] = 2
    numbers["first"] = 3
    numbers["third"] = 4
    assert dict(numbers) == {"first": 3, "third": 4}
