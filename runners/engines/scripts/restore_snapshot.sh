#!/bin/sh
# Replaces all contents of the directory $1 by its snapshot's.
: "${marker?}" "${snapshot?}" "${list?}"
cd -- "$1" && [ -f "$snapshot/$marker" ] || { echo @snapshot_missing; exit 1; }
files=$(cd -- "$snapshot" && find . -type f ! -path "./$list" -printf '%P %s %T@\n' | LC_ALL=C sort)
[ "$files" = "$(cat -- "$snapshot/$list")" ] || { echo @snapshot_edited; exit 1; }
find . -mindepth 1 -maxdepth 1 ! -name "$marker" ! -name lost+found ! -name "$snapshot*" -exec rm -rf -- {} +
: >"$marker"
said="$(find "$snapshot" -mindepth 1 -maxdepth 1 ! -name "$marker" ! -name "$list" \
    -exec cp -a --reflink=auto -t . -- {} + 2>&1)" ||
    { printf '%s\n' "$said" | head -n 1; exit 1; }
cp -- "$snapshot/$marker" "$marker.new" && sync -f . && mv -- "$marker.new" "$marker"
