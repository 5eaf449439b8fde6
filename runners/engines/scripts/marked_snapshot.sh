#!/bin/sh
# Prints the text in the marker of the snapshot of the directory $1, when its files are those of its list.
: "${marker?}" "${snapshot?}" "${list?}"
cd -- "$1/$snapshot" 2>/dev/null || exit 0
files=$(find . -type f ! -path "./$list" -printf '%P %s %T@\n' | LC_ALL=C sort)
[ "$files" = "$(cat -- "$list" 2>/dev/null)" ] && cat -- "$marker"
exit 0
