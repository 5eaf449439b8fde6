#!/bin/sh
# Prints a digest of the program $1, its libraries, and what a script starts.
#
# A script in a `bin` folder starts what lies beside that folder: YCSB's jars, and the workloads that it reads.
{
    printf '%s\n' "$1"
    ldd "$1" 2>/dev/null | sed -n 's|.*=> \(/[^ ]*\) .*|\1|p' | sort
    if [ "$(head -c 2 -- "$1")" = "#!" ] && [ -z "${1##*/bin/*}" ]; then
        home=${1%/bin/*}
        for file in "$home"/lib/*.jar "$home"/*-binding/lib/*.jar "$home"/workloads/*; do
            [ -f "$file" ] && printf '%s\n' "$file"
        done
    fi
} | while IFS= read -r file; do sha256sum <"$file" || exit 1; done | sha256sum
