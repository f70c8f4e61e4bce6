#!/bin/sh
# etcd on loopback, for the tests of the coordinator that uses it.
#
#   scripts/servers/etcd.sh install      installs Debian's package (as root); its service is not started
#   scripts/servers/etcd.sh run PORT     runs in the foreground on 127.0.0.1:PORT (peers on PORT + 1) with its data in a
#                                        temporary folder, which is removed at the end; stop it with SIGTERM
set -eu

case "${1:-}" in
install)
  command -v etcd > /dev/null || {
    apt-get update -q
    # Without this the package would start a server on the usual port.
    export RUNLEVEL=1
    apt-get install -y -q --no-install-recommends --no-upgrade etcd-server
  }
  etcd --version | head -n 1
  ;;
run)
  port="${2:?the port to listen on}"
  clients="http://127.0.0.1:$port"
  peers="http://127.0.0.1:$((port + 1))"
  data="$(mktemp -d)"
  # The data is not needed after the test, so etcd does not wait for the disk.
  etcd --name test --data-dir "$data" --listen-client-urls "$clients" --advertise-client-urls "$clients" \
    --listen-peer-urls "$peers" --initial-advertise-peer-urls "$peers" --initial-cluster "test=$peers" \
    --heartbeat-interval 50 --election-timeout 500 --unsafe-no-fsync --log-level error &
  pid=$!
  trap 'kill -TERM $pid' TERM INT
  trap 'rm -rf "$data"' EXIT
  # The first wait ends with the signal, the second with the process.
  wait $pid || wait $pid || true
  ;;
*)
  sed -n '2,6s/^# \{0,1\}//p' "$0" >&2
  exit 64
  ;;
esac
