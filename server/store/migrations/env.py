"""What Alembic runs for every command: migrates over the connection that the caller has opened."""

from __future__ import annotations

from alembic import context

from arena.server.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
