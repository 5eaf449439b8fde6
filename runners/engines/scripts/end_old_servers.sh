#!/bin/sh
# Ends the servers of all directories in $1.
#
# A killed controller leaves its servers behind, which keep the data locked. The next run ends them first.
. parts/is_ours.sh
for file in "$1"/*.pid; do
    pid='' since=''
    if [ -f "$file" ]; then read -r pid since <"$file"; fi
    if is_ours; then
        kill "$pid"
        tries=0
        while is_ours && [ $tries -lt 1200 ]; do tries=$((tries + 1)); sleep 0.1; done
        if is_ours; then echo "server $pid does not end"; exit 1; fi
    fi
done
true
