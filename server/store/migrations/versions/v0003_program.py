"""A store tells which program wrote it, so that an older one can say what it needs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the program's name and version; whoever brings the store up to date writes its own."""
    op.add_column("about", sa.Column("program", sa.String(64), nullable=True))
