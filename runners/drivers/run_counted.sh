#!/bin/sh
# Runs a tool that does a number of operations, the command in "$@" with @count@ in a word, for about `seconds`. Runs
# with fewer operations, from `first` on, tell its rate until one has lasted about `warm_up` seconds: they are the
# warm-up. Where most of what a run lasted was the tool's start and end, as one with a third fewer operations shows that
# lasted nearly as long, the next is to last four times as long by its rate. The output is that of the last run, the first to last nearly `seconds`. The file `counted` then has its
# operations and its begin and end in seconds since boot.
: "${first?}" "${warm_up?}" "${seconds?}"
run() {
    left=$#
    while [ "$left" -gt 0 ]; do
        word=$1
        shift
        case $word in *@count@*) word=${word%%@count@*}$count${word#*@count@} ;; esac
        set -- "$@" "$word"
        left=$((left - 1))
    done
    "$@" >run.out 2>run.err
}
count=$first lasted='' runs=0 fewer=0 fewer_lasted=0
for wanted in "$warm_up" "$seconds"; do
    enough=''
    until [ "$enough" ]; do
        next=$(LC_ALL=C awk -v n="$count" -v lasted="${lasted:-$wanted}" -v wanted="$wanted" \
            -v fewer="$fewer" -v fewer_lasted="$fewer_lasted" 'BEGIN {
            aim = fewer && n >= 1.5 * fewer && lasted - fewer_lasted < 0.1 * lasted * (1 - fewer / n) ? 4 : 1.02
            more = aim * wanted / (lasted > 0.01 ? lasted : 0.01)
            n *= more < 100 ? more : 100
            printf "%.0f", (n > 1 ? n : 1) }') || exit
        [ -z "$lasted" ] || fewer=$count fewer_lasted=$lasted
        count=$next
        runs=$((runs + 1))
        if [ "$runs" -gt 12 ]; then
            echo "it never ran for $wanted s: $count operations took $lasted s" >&2
            exit 1
        fi
        read -r began _ </proc/uptime
        [ "$wanted" != "$seconds" ] || echo "measured from $began" >&2
        run "$@" || {
            code=$?
            cat run.err >&2
            cat run.out
            exit "$code"
        }
        read -r ended _ </proc/uptime
        lasted=$(LC_ALL=C awk -v from="$began" -v to="$ended" 'BEGIN { printf "%.2f", to - from }') || exit
        enough=$(LC_ALL=C awk -v lasted="$lasted" -v wanted="$wanted" 'BEGIN { if (lasted >= 0.8 * wanted) print 1 }') || exit
    done
done
echo "$count $began $ended" >counted
cat run.err >&2
cat run.out
rm -f run.out run.err
