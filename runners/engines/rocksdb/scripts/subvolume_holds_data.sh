#!/bin/sh
# Says whether the snapshot of the subvolume $1 holds the data set $3, by the marker: 0 when it does, `changed` when its
# files are not those of its list; ends with 1 when it holds another.
. ../../scripts/parts/subvolume.sh
cd -- "$kept" 2>/dev/null && [ -f CURRENT ] && [ -f IDENTITY ] || exit 1
[ "$(cat -- "$marker")" = "$3 $(cat IDENTITY)" ] || exit 1
[ "$(files_in .)" = "$(cat -- "$list")" ] && echo 0 || echo changed
