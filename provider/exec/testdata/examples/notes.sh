#!/bin/sh
# A provider in shell: it notes what the user said, one line a turn, and finds
# notes by word. Use: command: [sh, notes.sh, /path/to/notes.txt]
notes=${1:?name a file for the notes}
touch "$notes" || exit 1

# field NAME prints a text of the request, escaped as JSON has it.
field() {
  printf '%s\n' "$line" | sed -nE "s/.*\"$1\":\"(([^\"\\\\]|\\\\.)*)\".*/\\1/p"
}

# find prints the notes that share a word of four letters or more with QUERY.
find() {
  printf '%s\n' "$1" | tr -c '[:alnum:]' '\n' | grep -E '.{4}' |
    grep -iFf - "$notes" | tail -n 5
}

while IFS= read -r line; do
  case $line in
  *'"op":"turn"'*)
    field user >>"$notes" && echo '{}' || echo '{"error":"disk?","retry":true}'
    ;;
  *'"op":"recall"'*)
    find "$(field query)" |
      awk 'BEGIN {printf "{\"memories\":["} {printf "%s{\"text\":\"%s\"}", sep, $0; sep = ","} END {print "]}"}'
    ;;
  *)
    echo '{}'
    ;;
  esac
done
