import pytest

from arena.server.store import stored_requests
from arena.server.web import page_process
from arena.server.web.routes import ROUTES
from testkit.forked import ForkedPageProcess


@pytest.fixture(autouse=True)
def time_of_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lengthen the time limits of servers and of the page process, so that tests pass on a busy machine."""
    monkeypatch.setattr(stored_requests, "ANSWER_TIMEOUT_SECONDS", 300.0)
    monkeypatch.setattr(page_process, "PAGE_PROCESS_START_TIMEOUT_SECONDS", 300.0)
    monkeypatch.setattr(page_process, "MAX_WAIT_FOR_START_SECONDS", 300.0)
    monkeypatch.setattr(page_process, "RESPONSE_GRACE_SECONDS", 150.0)
    for path, route in ROUTES.items():
        monkeypatch.setitem(ROUTES, path, route._replace(timeout_seconds=30 * route.timeout_seconds))


@pytest.fixture(autouse=True)
def forked_pages(monkeypatch: pytest.MonkeyPatch, loaded_commands: None) -> None:
    """Fork page processes, because each new one would take half a second to load its modules."""
    monkeypatch.setattr(page_process, "_start_process", ForkedPageProcess)
