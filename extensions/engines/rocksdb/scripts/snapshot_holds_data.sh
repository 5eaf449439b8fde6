#!/bin/sh
# Says whether the snapshot $4 of the directory $1 holds the data set $3, by the marker $2: 0 when it does, `changed` when
# its files are not those of its list; ends with 1 when it holds another.
: "${list?}"
cd -- "$1/$4" && [ -f "$2" ] || exit 1
read -r dataset identity <"$2"
[ "$dataset" = "$3" ] || exit 1
[ -f CURRENT ] && [ "$identity" = "$(cat IDENTITY 2>/dev/null)" ] || { echo changed; exit; }
files=$(find . -type f ! -name "$list" -printf '%P %s %T@\n' | LC_ALL=C sort)
[ "$files" = "$(cat -- "$list")" ] && echo 0 || echo changed
