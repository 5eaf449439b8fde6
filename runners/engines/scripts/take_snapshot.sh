#!/bin/sh
# Copies all contents of the directory $1 into its snapshot.
#
# A snapshot has a list of its files. It counts only under its final name, which a copy that was cut short does not have.
: "${marker?}" "${snapshot?}" "${list?}"
cd -- "$1" && [ -f "$marker" ] || { echo @directory_unowned; exit 1; }
rm -rf -- "$snapshot" "$snapshot.new" && mkdir -- "$snapshot.new" || exit 1
said="$(find . -mindepth 1 -maxdepth 1 ! -name lost+found ! -name "$snapshot*" \
    -exec cp -a --reflink=auto -t "$snapshot.new" -- {} + 2>&1)" || { printf '%s\n' "$said" | head -n 1; exit 1; }
files=$(cd -- "$snapshot.new" && find . -type f -printf '%P %s %T@\n' | LC_ALL=C sort) || exit 1
printf '%s\n' "$files" >"$snapshot.new/$list" || exit 1
sync -f . && mv -- "$snapshot.new" "$snapshot"
