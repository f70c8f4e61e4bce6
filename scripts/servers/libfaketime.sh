#!/bin/sh
# libfaketime, for the tests and chaos runs that move the clock of a node. Only the process that is started with LD_PRELOAD loads it;
# the machine's clock does not change.
#
#   scripts/servers/libfaketime.sh install      installs Debian's package (as root)
#   scripts/servers/libfaketime.sh path         prints the library's file; ends with 1 where there is none
set -eu

path() {
  for file in /usr/lib/*/faketime/libfaketimeMT.so.1 /usr/lib*/faketime/libfaketimeMT.so.1; do
    [ -e "$file" ] && echo "$file" && return 0
  done
  return 1
}

case "${1:-}" in
install)
  path > /dev/null || { apt-get update -q; apt-get install -y -q --no-install-recommends --no-upgrade libfaketime; }
  path
  ;;
path)
  path
  ;;
*)
  sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
  exit 64
  ;;
esac
