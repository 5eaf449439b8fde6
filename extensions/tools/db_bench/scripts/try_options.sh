#!/bin/sh
# Write one key with a cell's flags, to show that this build takes them: $1 is db_bench, $2 the database's directory,
# and the rest are the flags. The key goes to the nearest parent that there is, which is left as it was.
tool=$1 place=$2
shift 2
while [ ! -d "$place" ] && [ "$place" != / ]; do
    place=$(dirname -- "$place")
done
folder=$(mktemp -d "$place/.benchbrief-trial.XXXXXX") || exit 1 # the check of the directory says more
trap 'cd / && rm -rf -- "$folder"' EXIT
trap 'exit 1' HUP INT TERM
said=$("$tool" "$@" --db="$folder/db" --benchmarks=fillseq --use_existing_db=0 --num=1 --threads=1 --histogram=0 2>&1) &&
    printf '%s\n' "$said" | grep -q '^fillseq *:' && echo "one key was written" && exit 0
printf '%s\n' "$said" | grep -i 'error\|invalid\|unknown\|not ' | head -n 3 | tr '\n' ' ' >&2
exit 1
