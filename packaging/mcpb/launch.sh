#!/bin/sh
# Starts the program of this machine. A bundle knows systems and not processors,
# and some hosts unpack it without the right to execute.
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd) || exit 1
case "$(uname -m)" in
  x86_64 | amd64) processor=amd64 ;;
  arm64 | aarch64) processor=arm64 ;;
  *) echo "hermes-mcp: no program for the processor $(uname -m) in this bundle" >&2; exit 1 ;;
esac
program=$here/hermes-mcp-$(uname -s | tr '[:upper:]' '[:lower:]')-$processor
[ -x "$program" ] || chmod u+x "$program" || exit 1
exec "$program" "$@"
