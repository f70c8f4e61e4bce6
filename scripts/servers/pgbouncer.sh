#!/bin/sh
# PgBouncer in transaction mode on loopback, for the tests of everything that must work behind a pooler.
#
#   scripts/servers/pgbouncer.sh install      installs Debian's package (as root)
#   scripts/servers/pgbouncer.sh run PORT     runs in the foreground on 127.0.0.1:PORT, in front of the server that
#                                             PGHOST, PGPORT, PGUSER, PGPASSWORD and PGDATABASE name; POOL_SIZE
#                                             connections at most (2); stop it with SIGTERM
set -eu

PATH="$PATH:/usr/sbin"

case "${1:-}" in
install)
  command -v pgbouncer > /dev/null || { apt-get update -q; apt-get install -y -q --no-install-recommends --no-upgrade pgbouncer; }
  pgbouncer --version | head -n 1
  ;;
run)
  port="${2:?the port to listen on}"
  config="$(mktemp)"
  # Any client may connect: the listener is on loopback, and PgBouncer connects to PostgreSQL with a user of its own.
  cat > "$config" << CONFIG
[databases]
* = host=${PGHOST:-127.0.0.1} port=${PGPORT:?} user=${PGUSER:?} dbname=${PGDATABASE:?}${PGPASSWORD:+ password=$PGPASSWORD}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${POOL_SIZE:-2}
max_client_conn = 200
server_login_retry = 1
CONFIG
  # PgBouncer refuses to run as root; any existing unprivileged user is sufficient.
  if [ "$(id -u)" = 0 ]; then
    chown nobody "$config"
    set -- -u nobody "$config"
  else
    set -- "$config"
  fi
  pgbouncer "$@" &
  pid=$!
  trap 'kill -TERM $pid' TERM INT
  trap 'rm -f "$config"' EXIT
  # The first wait ends with the signal, the second with the process.
  wait $pid || wait $pid || true
  ;;
*)
  sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
  exit 64
  ;;
esac
