#!/bin/sh
# Makes the list $2 of the files in the directory $1. When a file of the list $3 has another size or time, prints it and
# keeps that list instead: RocksDB never writes into a finished table or blob file.
. parts/data_files.sh
cd -- "$1" && data_files >"$2.new" || exit 1
[ -f "$3" ] || : >"$3" || exit 1
changed=$(awk '
    $1 !~ /[.](sst|blob)$/ { next }
    FILENAME == ARGV[1] { was[$1] = $2 " " $3; next }
    $1 in was && was[$1] != $2 " " $3 { print $1; exit }' "$3" "$2.new")
if [ -n "$changed" ]; then
    mv -- "$3" "$2" && rm -f -- "$2.new"
    printf '%s\n' "$changed"
else
    mv -- "$2.new" "$2" && rm -f -- "$3"
fi
