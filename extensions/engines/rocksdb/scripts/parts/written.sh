#!/bin/sh
# `written MARKER DATA LIST` prints how many cells wrote to the data set in the working directory; `changed` when the
# database is broken, or its files are not those of the list (none with ""); fails when it holds another data set.
. ./data_files.sh
written() {
    dataset= identity= writers= known= manifest=
    [ -f IDENTITY ] || return 1
    { read -r known <IDENTITY; read -r dataset identity writers <"$1"; read -r manifest <CURRENT; } 2>/dev/null
    [ "$dataset $identity" = "$2 $known" ] || return 1
    if [ -n "$3" ] && [ -f "$3" ] && [ "$(data_files)" != "$(cat -- "$3")" ] || [ ! -s "$manifest" ]; then
        echo changed
    else
        echo "${writers:-0}"
    fi
}
