"""Checkpoint file of a solver that was stopped."""

from pathlib import Path

import numpy as np
import pytest

from arena.lab.solving.checkpoint import BadCheckpoint, load_checkpoint, save_checkpoint


def test_a_checkpoint_that_is_damaged_or_of_another_map_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.part"
    codes = np.arange(50, dtype=np.uint16)
    assert load_checkpoint(path, "ab", 50) is None
    save_checkpoint(path, "ab", 7, codes, is_finished=True)
    found = load_checkpoint(path, "ab", 50)
    assert found is not None
    assert found[:2] == (7, True)
    assert list(found[2]) == list(range(50))
    for digest, count in (("ac", 50), ("ab", 49)):
        with pytest.raises(BadCheckpoint, match="checkpoint of another map"):
            load_checkpoint(path, digest, count)
    data = path.read_bytes()
    for altered in (data[:-1], data[:40] + bytes([data[40] ^ 1]) + data[41:], b""):
        path.write_bytes(altered)
        with pytest.raises(BadCheckpoint, match="damaged"):
            load_checkpoint(path, "ab", 50)
