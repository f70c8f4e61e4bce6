#!/bin/sh
# Redis for the benchmark beside BullMQ.
#
#   scripts/servers/redis.sh install      installs Debian's package (as root); the benchmark starts the server itself
set -eu

case "${1:-}" in
install)
  # Debian starts the service on installation; nothing here uses that one.
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
