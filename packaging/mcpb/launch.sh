#!/bin/sh
# Starts the program of this machine. A bundle knows systems and not processors,
# and some hosts unpack it without the right to execute.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1
system=$(uname -s)
case "$system $(uname -m)" in
  Darwin*) program=hermes-mcp-darwin ;; # for both processors
  *x86_64 | *amd64) program=hermes-mcp-linux-amd64 ;;
  *aarch64 | *arm64) program=hermes-mcp-linux-arm64 ;;
  *) program=none ;;
esac
if ! [ -f "$here/$program" ] || { [ "$system" != Darwin ] && [ "$system" != Linux ]; }; then
  echo "hermes-mcp: this bundle has no program for $system on $(uname -m)" >&2
  exit 1
fi
[ -x "$here/$program" ] || chmod u+x "$here/$program" || exit 1
exec "$here/$program" "$@"
