#!/bin/sh
# promtool, which checks what a node shows to Prometheus.
#
#   scripts/servers/promtool.sh install      takes it out of Debian's package (as root): the server that comes with it is not installed
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
