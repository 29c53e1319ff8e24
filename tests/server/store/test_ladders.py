import fcntl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from arena.server.store.database import open_store
from arena.server.store.journal.journal import open_journal
from arena.server.store.journal.reader import load_events_of_match
from arena.server.store.ladder_lock import CannotResume
from arena.server.store.ladders import claim_ladder, find_stored_plan, finish_ladder, store_bots_of_event
from tests.server.journals import make_append_event, make_open_match

PLAN: dict[str, Any] = {"rounds": 2, "bots": {"a": "greedy", "b": "random"}}


def make_url(folder: Path) -> str:
    return f"sqlite:///{folder / 'arena.db'}"


async def test_the_last_unnamed_ladder_is_resumed_until_it_is_finished(tmp_path: Path) -> None:
    async with open_store(make_url(tmp_path)) as engine:
        async with claim_ladder(engine, "ladder", None, "ladder-1", PLAN) as first:
            assert first.event == "ladder-1"
        async with claim_ladder(engine, "ladder", None, "ladder-2", PLAN) as again:
            assert (again.event, again.uid) == ("ladder-1", first.uid)
        async with claim_ladder(engine, "match", None, "match-1", PLAN) as other:
            assert other.uid != first.uid, "another command does not resume this ladder"
        await finish_ladder(engine, "ladder-1")
        async with claim_ladder(engine, "ladder", None, "ladder-2", PLAN) as new:
            assert new.event == "ladder-2"
        kept = await find_stored_plan(engine, "ladder-1")
        assert kept is not None
        assert kept.finished is not None
        assert await find_stored_plan(engine, "none") is None


async def test_a_ladder_in_play_is_refused_to_others(tmp_path: Path) -> None:
    async with open_store(make_url(tmp_path)) as engine, open_store(make_url(tmp_path)) as another:
        async with claim_ladder(engine, "ladder", "spring", "x", PLAN):
            with pytest.raises(CannotResume, match="event spring is being played by another process"):
                async with claim_ladder(another, "ladder", "spring", "x", PLAN):
                    raise AssertionError
            async with claim_ladder(another, "ladder", "autumn", "x", PLAN) as kept:
                assert kept.event == "autumn"
        async with claim_ladder(another, "ladder", "spring", "x", PLAN) as kept:
            assert kept.plan == PLAN
    assert list(tmp_path.glob("*.lock")) == []


async def test_a_lock_file_deleted_while_it_is_locked_is_locked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []

    def flock(file: int, how: int, real: Callable[[Any, int], None] = fcntl.flock) -> None:
        if not taken:
            for each in tmp_path.glob("*.lock"):
                each.unlink()
        taken.append(how)
        real(file, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    async with open_store(make_url(tmp_path)) as engine, claim_ladder(engine, "ladder", "spring", "x", PLAN):
        assert len(taken) == 2
        with pytest.raises(CannotResume):
            async with claim_ladder(engine, "ladder", "spring", "x", PLAN):
                raise AssertionError


async def test_differences_between_two_plans_are_named(tmp_path: Path) -> None:
    async with open_store(make_url(tmp_path)) as engine:
        async with claim_ladder(engine, "ladder", None, "ladder-1", PLAN):
            pass
        other = {"rounds": 2, "bots": {"b": "random", "a": "greedy"}}
        with pytest.raises(CannotResume) as refused:
            async with claim_ladder(engine, "ladder", None, "x", other):
                raise AssertionError
        assert str(refused.value) == (
            "event ladder-1 was started with different settings: bots was a = greedy, b = random, now b = random, a = greedy;"
            " finish it with its first settings, or start another event with --event"
        )


async def test_a_bot_whose_file_was_edited_is_named(tmp_path: Path) -> None:
    plan = {**PLAN, "files": {"a": "3a55ec3dcd0a", "b": "51d2c93fd5fa"}}
    async with open_store(make_url(tmp_path)) as engine:
        async with claim_ladder(engine, "ladder", "spring", "x", plan):
            pass
        edited = {**PLAN, "files": {"a": "3a55ec3dcd0a", "b": "3950782c3d00"}}
        with pytest.raises(
            CannotResume,
            match=r"^event spring was started with different settings: files edited since: b; give it another name$",
        ):
            async with claim_ladder(engine, "ladder", "spring", "x", edited):
                raise AssertionError


async def test_bots_that_connect_later_are_stored_in_the_plan(tmp_path: Path) -> None:
    plan = {"rounds": 2, "bots": {}}
    async with open_store(make_url(tmp_path)) as engine:
        async with claim_ladder(engine, "ladder", "spring", "x", plan):
            await store_bots_of_event(engine, "spring", ["a", "b"])
        async with claim_ladder(engine, "ladder", "spring", "x", plan) as kept:
            assert list(kept.plan["bots"]) == ["a", "b"]


async def test_unfinished_matches_of_a_killed_ladder_are_removed(
    engine: AsyncEngine,
) -> None:
    for number in (1, 2):
        async with claim_ladder(engine, "ladder", "spring", "x", PLAN), open_journal(engine) as journal:
            for match, event in (("m" * 32, "spring"), ("other", "serve")):
                assert [at for at, _ in await load_events_of_match(engine, match)] == (
                    [1, 2] if number == 2 and event == "serve" else []
                )
                if event == "spring" or number == 1:
                    await journal.commit(
                        [
                            make_open_match(match, event=event),
                            *(make_append_event(seq, at=number * seq, match=match) for seq in (1, 2)),
                        ]
                    )
            assert [at for at, _ in await load_events_of_match(engine, "m" * 32)] == [number, 2 * number]
    async with open_journal(engine) as journal:
        await journal.commit([make_append_event(3, match="other")])
    await finish_ladder(engine, "spring")
    assert [at for at, _ in await load_events_of_match(engine, "other")] == [1, 2, 3]
