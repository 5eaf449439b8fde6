#!/bin/sh
# The cells of one variant as a plain script has them: it loads the data before each cell, then measures.
#   reload_each_cell.sh COMPRESSION RECORDS SECONDS DATA OUTPUT
# One file a cell is left in OUTPUT: WORKLOAD-THREADS-REPEAT, the output of db_bench.
set -eu

compression=$1 records=$2 seconds=$3 data=$4 output=$5
mkdir -p "$output"

bench() {
    benchmarks=$1
    shift
    db_bench --db="$data" --num="$records" --key_size=16 --value_size=400 --compression_type="$compression" \
        --cache_size=8388608 --histogram=1 --benchmarks="$benchmarks" "$@"
}

for workload in overwrite updaterandom readrandomwriterandom readwhilewriting seekrandomwhilewriting; do
    for threads in 1 2 4 8; do
        for repeat in 1 2 3; do
            rm -rf "$data"
            bench fillseq,flush --disable_wal=1 >"$output/load" 2>&1
            bench "$workload" --use_existing_db=1 --threads="$threads" --seed="$repeat" --duration="$seconds" \
                --ops_between_duration_checks=100 >"$output/$workload-$threads-$repeat" 2>&1
        done
    done
done
rm -rf "$data"
