#!/bin/sh
# Makes the subvolume $1 if it is not there, and removes what a restore that was cut short has left.
. parts/subvolume.sh
[ -e "$real" ] || [ ! -f "$old/$marker" ] || mv -T -- "$old" "$real" || exit 1
. parts/subvolume_check.sh
if [ ! -e "$real" ]; then
    mkdir -p -- "${real%/*}" && said=$(btrfs subvolume create "$real" 2>&1) || { echo "$real can't be made: $said"; exit 1; }
fi
drop "$fresh" && drop "$old"
