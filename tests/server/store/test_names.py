import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.server.store.names import find_name_unavailability_reason, make_lookalike_key


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("аnna", "anna"),
        ("ΑΝΝΑ", "anna"),
        ("b0b", "bob"),
        ("bi11", "bill"),
        ("ånna", "anna"),
        ("ａnna", "anna"),
        ("a\u0301\u0323nna", "a\u0323\u0301nna"),
        ("\u1112\u1161\u11ab", "\ud55c"),
    ],
)
def test_a_lookalike_of_an_existing_name_is_refused(name: str, like: str) -> None:
    assert (
        find_name_unavailability_reason(name, ["carl", like])
        == f"{name!r} looks like {like!r}, which exists: choose another name"
    )


@pytest.mark.parametrize("name", ["house-evil", "guest-12", "hоuse-evil", "HOUSE-x", "gυest-1", "deleted-1"])
def test_reserved_names_and_their_lookalikes_are_refused(name: str) -> None:
    assert "looks like a name of" in (find_name_unavailability_reason(name, []) or "")


@given(st.text(max_size=20))
def test_a_lookalike_key_is_its_own_key_and_an_equal_name_is_ignored(name: str) -> None:
    assert make_lookalike_key(make_lookalike_key(name)) == make_lookalike_key(name)
    assert find_name_unavailability_reason(f"x{name}", [f"x{name}"]) is None


@pytest.mark.parametrize("name", ["bot-1", "bot-2", "Ёж", "дракон", "housekeeper", "機械"])
def test_other_names_are_available(name: str) -> None:
    assert find_name_unavailability_reason(name, ["anna", "bot", "bot-i", "bot-3", "ёлка"]) is None
