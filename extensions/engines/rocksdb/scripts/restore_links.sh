#!/bin/sh
# Replaces all contents of the directory $1 by its snapshot's: links of the table and blob files, copies of the rest.
: "${marker?}" "${snapshot?}" "${list?}"
cd -- "$1" && [ -f "$snapshot/$marker" ] || { echo @snapshot_missing; exit 1; }
files=$(cd -- "$snapshot" && find . -type f ! -name "$list" -printf '%P %s %T@\n' | LC_ALL=C sort)
[ "$files" = "$(cat -- "$snapshot/$list")" ] || { echo @snapshot_edited; exit 1; }
find . -mindepth 1 -maxdepth 1 ! -name "$marker" ! -name lost+found ! -name "$snapshot*" -exec rm -rf -- {} +
: >"$marker"
said="$(find "$snapshot" -mindepth 1 -maxdepth 1 \( -name '*.sst' -o -name '*.blob' \) -exec ln -t . -- {} + 2>&1)" ||
    { printf '%s\n' "$said" | head -n 1; exit 1; }
said="$(find "$snapshot" -mindepth 1 -maxdepth 1 ! -name '*.sst' ! -name '*.blob' ! -name "$marker" ! -name "$list" \
    -exec cp -a -t . -- {} + 2>&1)" || { printf '%s\n' "$said" | head -n 1; exit 1; }
cp -- "$snapshot/$marker" "$marker.new" && sync -f . && mv -- "$marker.new" "$marker"
