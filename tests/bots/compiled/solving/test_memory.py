"""How much memory there is."""

from pathlib import Path

from arena.bots.compiled.solving.memory import available


def test_the_control_group_bounds_what_is_free(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:  900 kB\nMemAvailable:     500 kB\n")
    assert available(meminfo, tmp_path) == 500 * 1024
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("1000\n")
    assert available(meminfo, tmp_path) == 500 * 1024
    (tmp_path / "memory.max").write_text("101000\n")
    assert available(meminfo, tmp_path) == 100_000
    (tmp_path / "memory.max").write_text("900\n")
    assert available(meminfo, tmp_path) == 0


def test_without_the_systems_word_it_is_half_of_the_machine(tmp_path: Path) -> None:
    assert available(tmp_path / "none", tmp_path) > 1 << 26
    assert available() > 1 << 20
