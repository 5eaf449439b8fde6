#!/bin/sh
# Runs the program $1 as the server of the directory $2; the other arguments are its own.
. parts/is_ours.sh
program=$1 data=$2
shift 2
mkdir -p -- "$data" && echo "$$ $(began $$)" >"$data.pid" || exit 1
exec "$program" "$@"
