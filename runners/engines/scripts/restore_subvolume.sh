#!/bin/sh
# Replaces the subvolume $1 by a new snapshot of its snapshot.
#
# It is made as a whole before the two renames. Between them, the old one is put back by open_subvolume.sh.
. parts/subvolume.sh
[ -f "$kept/$marker" ] || { echo "there is no snapshot of $real"; exit 1; }
[ "$(files_in "$kept")" = "$(cat -- "$kept/$list")" ] || { echo "the files of the snapshot of $real have changed"; exit 1; }
drop "$fresh" || exit 1
said=$(btrfs subvolume snapshot "$kept" "$fresh" 2>&1) || { echo "$said"; exit 1; }
if [ -e "$real" ]; then
    drop "$old" && mv -T -- "$real" "$old" || exit 1
fi
mv -T -- "$fresh" "$real" && sync -f "$real" && drop "$old"
