"""docs/docker.md: its files are taken as they are shown, and the bot of its own image plays."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from arena.protocol.record import read_records
from testkit.tools import mark_requires
from tests.bots.command_line import arena
from tests.docker.compose import ANY_PORT, ROOT, Compose, compose_project, docker

PAGE = (ROOT / "docs" / "docker.md").read_text(encoding="utf-8")
COMPOSE = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
OWN, GPU = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
PLAIN, WITH_PACKAGE = re.findall(r"```dockerfile\n(.*?)```", PAGE, re.DOTALL)

in_docker = [pytest.mark.timeout(900), mark_requires("docker")]


def test_the_variables_are_those_of_the_compose_file_with_their_defaults() -> None:
    used = dict(re.findall(r"\$\{(\w+):?-([^}]*)\}", COMPOSE.partition("# A public host")[0]))
    rows = re.findall(r"^\| (`[A-Z].*?) \| (.*?) \|", PAGE, re.MULTILINE)
    shown = {
        name: default
        for names, defaults in rows
        for name, default in zip(
            re.findall(r"`(.*?)`", names), re.findall(r"`(.*?)`", defaults) or [""], strict=True
        )
    }
    assert {name: used[name] for name in shown} == shown
    assert used.keys() - shown.keys() == {"PYTHON_VERSION"}


def test_no_service_says_a_thing_twice() -> None:
    """Compose refuses such a file as a whole. This is seen without it, where a merge has left two of a kind."""
    services = re.split(r"^(?=\S|  \S)", COMPOSE, flags=re.MULTILINE)
    service_keys = [re.findall(r"^    (\w+):", service, re.MULTILINE) for service in services]
    assert max(map(len, service_keys)) > 5
    assert [keys for keys in service_keys if len(keys) > len(set(keys))] == []


def test_the_plain_image_is_that_of_the_example() -> None:
    """It is built and plays in tests/docker/test_examples.py."""
    example = (ROOT / "examples" / "docker" / "python" / "Dockerfile").read_text(encoding="utf-8")
    assert re.sub("^#.*\n", "", example, flags=re.MULTILINE) == PLAIN


def of_this_page(text: str, folder: Path) -> str:
    """Return a compose file of the page, with the places that it would have in the folder of the sources."""
    return text.replace("file: docker-compose.yml", f"file: {ROOT / 'docker-compose.yml'}").replace(
        "build: ./", f"build: {folder}/"
    )


@pytest.fixture
def compose(tmp_path: Path) -> Iterator[Compose]:
    (tmp_path / "own.yml").write_text(of_this_page(OWN, tmp_path), encoding="utf-8")
    (tmp_path / "results").mkdir()
    project = compose_project(f"arena-guide-{os.getpid()}", tmp_path / "own.yml")
    always = {"LISTEN": ANY_PORT, "RECORD": str(tmp_path / "results"), "GAME": "tictactoe", "BOTS": "2"}

    def run(*words: str, **environment: str) -> str:
        return project(*words, **{**always, **environment})

    yield run
    run("down", "--volumes", "--timeout", "5")


class TestInDocker:
    pytestmark = in_docker

    def test_a_bot_in_an_image_of_its_own_with_a_package_plays(
        self, compose: Compose, tmp_path: Path
    ) -> None:
        (tmp_path / "my_bot").mkdir()
        result = arena("new", tmp_path / "my_bot" / "my_bot.py")
        assert result.code == 0, result
        (tmp_path / "my_bot" / "Dockerfile").write_text(WITH_PACKAGE, encoding="utf-8")
        compose("build", "server")
        try:
            compose("up", "server", "greedy", "mine")
            assert "is connected to ws://server:8765" in compose("logs", "mine")
            container = compose("ps", "--all", "--quiet", "mine").strip()
            limits = docker(
                "inspect", "--format", "{{.HostConfig.Memory}} {{.HostConfig.ReadonlyRootfs}}", container
            )
            assert limits.split() == [str(2**30), "true"]
        finally:
            docker("image", "rm", "--force", "my-bot")
        played = list(read_records(tmp_path / "results" / "ladder.jsonl"))
        assert {record.players.maxie for record in played} == {"greedy", "my_bot"}
        assert all(record.result.reason.value in ("line", "board_full") for record in played)

    def test_a_gpu_is_reserved(self, tmp_path: Path) -> None:
        """The reservation is what Docker is asked for; this machine need not have one."""
        (tmp_path / "gpu.yml").write_text(of_this_page(GPU, tmp_path), encoding="utf-8")
        run = compose_project(f"arena-guide-{os.getpid()}", tmp_path / "gpu.yml")
        result = run("config", "--format", "json")
        service = msgspec.json.decode(result[result.index("{") :])["services"]["deep"]
        (device,) = service["deploy"]["resources"]["reservations"]["devices"]
        assert (device["driver"], device["count"], device["capabilities"]) == ("nvidia", 1, ["gpu"])
        assert service["cap_drop"] == ["ALL"], "the rest is as with the other bots"
        assert service["mem_limit"] == str(8 * 2**30)
