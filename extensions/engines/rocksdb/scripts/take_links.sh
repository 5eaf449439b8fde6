#!/bin/sh
# Makes a snapshot of the database in the directory $1: hard links of its table and blob files, copies of the rest.
#
# RocksDB never writes into a finished table or blob file, it only unlinks it. The snapshot has a list of its files, and
# counts only under its final name.
: "${marker?}" "${snapshot?}" "${list?}"
cd -- "$1" && [ -f "$marker" ] || { echo @directory_unowned; exit 1; }
other=$(find . -mindepth 1 -maxdepth 1 \( -name '*.sst' -o -name '*.blob' \) ! -type f | head -n 1)
[ -z "$other" ] || { echo "@link_unkept ${other#./}"; exit 1; }
rm -rf -- "$snapshot" "$snapshot.new" && mkdir -- "$snapshot.new" || exit 1
find . -mindepth 1 -maxdepth 1 \( -name '*.sst' -o -name '*.blob' \) -exec ln -t "$snapshot.new" -- {} + 2>&1 ||
    { echo @links_impossible; exit 1; }
said="$(find . -mindepth 1 -maxdepth 1 ! -name '*.sst' ! -name '*.blob' ! -name lost+found ! -name "$snapshot*" \
    -exec cp -a -t "$snapshot.new" -- {} + 2>&1)" || { printf '%s\n' "$said" | head -n 1; exit 1; }
files=$(cd -- "$snapshot.new" && find . -type f -printf '%P %s %T@\n' | LC_ALL=C sort) || exit 1
printf '%s\n' "$files" >"$snapshot.new/$list" || exit 1
sync -f . && mv -- "$snapshot.new" "$snapshot"
