#!/bin/sh
# Says whether the snapshot that a file system made of the directory $1 holds the data set $3, by the marker: 0 when it
# does, `changed` when its files are not those of its list; ends with 1 when it holds another.
: "${marker?}"
shown=$(show)
state=$(
    cd -- "${shown:-/dev/null}" 2>/dev/null && [ -f "$marker" ] || exit 1
    read -r dataset identity <"$marker"
    [ "$dataset" = "$3" ] || exit 1
    [ -f CURRENT ] && [ "$identity" = "$(cat IDENTITY 2>/dev/null)" ] || { echo changed; exit; }
    whole . && echo 0 || echo changed
)
found=$?
hide
echo "$state"
exit "$found"
