#!/bin/sh
# libfaketime, with which the chaos runs move the clock of a node.
#
#   scripts/servers/faketime.sh install      installs Debian's package (as root)
set -eu

case "${1:-}" in
install)
  ls /usr/lib/*/faketime/libfaketime.so.1 2> /dev/null || {
    apt-get update -q
    apt-get install -y -q --no-install-recommends --no-upgrade libfaketime
    ls /usr/lib/*/faketime/libfaketime.so.1
  }
  ;;
*)
  sed -n '2,4s/^# \{0,1\}//p' "$0" >&2
  exit 64
  ;;
esac
