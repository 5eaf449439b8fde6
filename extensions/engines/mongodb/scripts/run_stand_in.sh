#!/bin/sh
# Runs the stand-in $1 at the address $2 on the directory $3.
#
# A killed controller leaves its server behind, which keeps the data locked. The next run ends it first. It is
# identified by its pid and by this very directory among its arguments.
program=$1 bind=$2 data=$3
mkdir -p -- "$data" || exit 1
old=$(cat -- "$data/server.pid" 2>/dev/null)
ours() { [ -n "$old" ] && tr '\0' '\n' 2>/dev/null <"/proc/$old/cmdline" | grep -qxF -- "$data"; }
if ours; then
    kill "$old"
    tries=0
    while ours && [ $tries -lt 100 ]; do tries=$((tries + 1)); sleep 0.1; done
fi
echo $$ >"$data/server.pid" || exit 1
exec "$program" --port 0 --bind "$bind" --data "$data"
