#!/bin/sh
# The first start makes the cluster and the database, and runs the files of /docker-entrypoint-initdb.d, as the official image does.
set -eu
export PGHOST=/tmp
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --username=postgres --pwfile="$POSTGRES_PASSWORD_FILE" --auth-host=scram-sha-256 --auth-local=trust --encoding=UTF8 --locale=C.UTF-8
  echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
  pg_ctl start --wait --options="-c listen_addresses='' -c unix_socket_directories=/tmp"
  createdb --username=postgres "$POSTGRES_DB"
  for file in /docker-entrypoint-initdb.d/*.sql; do
    psql --username=postgres --dbname="$POSTGRES_DB" --set=ON_ERROR_STOP=1 --file="$file"
  done
  pg_ctl stop --wait
fi
exec "$@" -c 'listen_addresses=*' -c unix_socket_directories=/tmp
