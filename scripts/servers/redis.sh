#!/bin/sh
# Redis, for the benchmark that compares with BullMQ.
#
#   scripts/servers/redis.sh install      installs Debian's package (as root); the benchmark starts the server itself
set -eu

case "${1:-}" in
install)
  # Debian would start the service on installation, but the benchmark uses its own server.
  command -v redis-server > /dev/null || {
    apt-get update -q
    RUNLEVEL=1 apt-get install -y -q --no-install-recommends --no-upgrade redis-server
  }
  redis-server --version
  ;;
*)
  sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
  exit 64
  ;;
esac
