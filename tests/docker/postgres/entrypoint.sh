#!/bin/sh
# What the official image does before `postgres` itself, in the same order: root reads the password's file and
# gives the folders to `postgres`, which then makes the database with a server that listens on its socket only.
set -eu

if [ "$(id -u)" = 0 ]; then
  POSTGRES_PASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
  export POSTGRES_PASSWORD
  chown -R postgres "$PGDATA" /var/run/postgresql
  chmod 700 "$PGDATA"
  exec setpriv --reuid postgres --regid postgres --init-groups "$0" "$@"
fi

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  printf %s "$POSTGRES_PASSWORD" >/tmp/password
  initdb --username "$POSTGRES_USER" --pwfile /tmp/password --encoding UTF8 --locale C.UTF-8
  rm /tmp/password
  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
  echo "listen_addresses = '*'" >>"$PGDATA/postgresql.conf"
  pg_ctl --wait -o "-c listen_addresses=" start
  createdb --username "$POSTGRES_USER" "$POSTGRES_DB"
  # The official image may take longer here. Whoever asks by the socket meanwhile finds a server that is about to go.
  sleep 3
  pg_ctl --wait --mode fast stop
fi
exec "$@"
