#!/bin/sh
# Makes a read-only snapshot of the subvolume $1, beside it. The file system makes it as a whole or not at all.
. parts/subvolume.sh
cd -- "$real" && [ -f "$marker" ] || { echo "$real does not hold the marker $marker"; exit 1; }
other=$(find . -mindepth 1 \( -type l -o -type d -inum 256 \) | head -n 1)
[ -z "$other" ] || { echo "${other#./} in $real leads out of it, so a snapshot would not keep it"; exit 1; }
drop "$kept" || exit 1
files=$(files_in .) && printf '%s\n' "$files" >"$list" && sync -f . || exit 1
said=$(btrfs subvolume snapshot -r "$real" "$kept" 2>&1) || { echo "$said"; exit 1; }
