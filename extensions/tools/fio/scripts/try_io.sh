#!/bin/sh
# Do one I/O as a cell would: $1 is fio, $2 its engine, $3 whether I/O is direct, $4 the size of a block, and $5 the
# device, which is only read, or the directory. That is tried in the nearest parent that there is, and left as it was.
fio=$1 engine=$2 direct=$3 block=$4 place=$5
folder=
if [ -b "$place" ]; then
    name=$(printf %s "$place" | sed 's/[\\:]/\\&/g') pattern=read
else
    while [ ! -d "$place" ] && [ "$place" != / ]; do
        place=$(dirname -- "$place")
    done
    folder=$(mktemp -d "$place/.benchbrief-trial.XXXXXX") || exit 1
    trap 'cd / && rm -rf -- "$folder"' EXIT
    trap 'exit 1' HUP INT TERM
    cd "$folder" || exit 1
    name=data pattern=write
fi
if said=$("$fio" --name=trial --filename="$name" --rw="$pattern" --size="$block" --bs="$block" \
    --ioengine="$engine" --direct="$direct" --output-format=terse 2>&1); then
    echo "one I/O was done"
else
    printf '%s\n' "$said" | grep -v '^3;\|^$' | head -n 3 | tr '\n' ' ' >&2
    exit 1
fi
