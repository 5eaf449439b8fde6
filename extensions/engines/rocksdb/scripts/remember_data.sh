#!/bin/sh
# Writes into the marker $2 of the directory $1 that it holds the data set $3, to which $4 cells wrote.
#
# The marker is renamed into place: it names a data set completely or not at all.
cd -- "$1" || exit 1
[ -f CURRENT ] && [ -f IDENTITY ] || { echo "there is no RocksDB database in $1"; exit 1; }
{ printf '%s %s%s' "$3" "$(cat IDENTITY)" "${4:+ $4}" >"$2.new"; } 2>/dev/null && sync -- "$2.new" && mv -- "$2.new" "$2" ||
    { echo "the marker can't be written in $1, where $(df -Pk . | awk 'NR == 2 { print $4 }') KiB are free"; exit 1; }
