#!/bin/sh
# Runs pgbench, and folds its logs of transactions: a fast server fills gigabytes of them. The first `warm_up` seconds
# are left out; `rate` is 1 for an offered load, whose logs have a column more; `fold` is the program of awk that folds.
: "${clients?}" "${warm_up?}" "${rate?}" "${fold?}"
program=$1
shift
jobs=$(nproc 2>/dev/null) || jobs=1
[ "$jobs" -le "$clients" ] || jobs=$clients
"$program" -j "$jobs" --log --log-prefix=log "$@" >summary
code=$?
cat summary
[ "$code" = 0 ] || exit "$code"
end=$(tail -q -n 1 log.* | awk '{ t = $5 + $6 / 1000000; if (t > last) last = t } END { printf "%.6f", last }')
start=$(awk -v end="$end" -v warm_up="$warm_up" '
    /^number of transactions actually processed:/ { split($NF, n, "/") }
    /^tps = / { if ($3 > 0) printf "%.6f", end - n[1] / $3 + warm_up; exit }' summary)
[ -n "$start" ] || exit 0
cat log.* | awk -v start="$start" -v end="$end" -v rate="$rate" "$fold" >transactions || exit
rm -f log.*
