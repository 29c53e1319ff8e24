"""`python -m tests.architecture FILE.svg` draws the house from its contracts and its imports."""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.architecture.house import read
from tests.architecture.picture import picture

parser = argparse.ArgumentParser(prog="python -m tests.architecture", description=__doc__)
parser.add_argument("file", type=Path, help="where the SVG goes, as in docs/pictures/architecture.svg")
parser.parse_args().file.write_text(picture(read()), encoding="utf-8")
