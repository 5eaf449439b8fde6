#!/bin/sh
# Makes a snapshot of the directory $1, which has a list of its files. The file system makes it as a whole or not at all.
: "${real?}" "${marker?}" "${list?}"
cd -- "$real" && [ -f "$marker" ] || { echo "$real does not hold the marker $marker"; exit 1; }
here=$(stat -c %d .)
other=$(find . -mindepth 1 -name lost+found -prune -o -printf '%y %D %P\n' |
    awk -v here="$here" '$1 == "l" || $1 == "d" && $2 != here { sub(/^. [0-9]+ /, ""); print; exit }')
[ -z "$other" ] || { echo "$other in $real leads out of it, so a snapshot would not keep it"; exit 1; }
forget || exit 1
files=$(files_in .) && printf '%s\n' "$files" >"$list" && sync -f . || exit 1
cd / && keep
