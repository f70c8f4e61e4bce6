#!/bin/sh
# promtool, which checks the metrics of a node.
#
#   scripts/servers/promtool.sh install      extracts it from Debian's package (as root) without installing the server
set -eu

case "${1:-}" in
install)
  command -v promtool > /dev/null || {
    folder="$(mktemp -d)"
    trap 'rm -rf "$folder"' EXIT
    apt-get update -q
    cd "$folder"
    apt-get download -q prometheus
    dpkg-deb --extract prometheus_*.deb .
    install usr/bin/promtool /usr/local/bin/promtool
  }
  promtool --version | head -n 1
  ;;
*)
  sed -n '2,4s/^# \{0,1\}//p' "$0" >&2
  exit 64
  ;;
esac
