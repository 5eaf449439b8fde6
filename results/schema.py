"""The store's tables and the views that derived metrics are computed over.

All values are in base units: seconds, bytes, operations; latencies are in seconds; cpu is in busy cores.
A missing value is NULL and `reason` says why.

Tables (one Parquet file each, one row a fact):

    runs        run_id, spec, profile, plan_version, started_at, ended_at, status, simulated, imported
    cells       run_id, cell_id, cell_hash, experiment, hardware, database, workload, threads, target, repeat,
                status (ok|failed|missing), reason, attempt, started_at, measured_s, warm_up_s, raw_dir
    operations  run_id, cell_id, phase, source, operation, kind (service|intended), count, errors,
                mean_s, min_s, max_s, histogram (LIST of STRUCT(lo_s, hi_s, count)), reason
    throughput  run_id, cell_id, phase, operation ('all' for the cell's total), ops_per_s, count, errors, duration_s, reason
    latency     run_id, experiment, hardware, workload, threads, target, phase, repeat (NULL: merged over repeats), operation,
                kind, statistic (mean|min|max|p50|p75|p90|p95|p99|p99.9|p99.99), value_s, origin (histogram|printed), sources, reason
    samples     run_id, cell_id, measure (disk.read ...), node, device, t_s (from the start of the measured window), value, unit
    counters    run_id, cell_id, node, name, before, after, delta, unit          (server status over the measured window)
    facts       run_id, node, name, value (VARCHAR), unit, origin (observed|declared), hardware
    notes       run_id, cell_id (NULL: the run), severity (info|warning|error), text, origin

Views in schema `measure`, which the SQL in a plan uses (one row for each combination of their dimensions; only cells
with status ok of the selected run):

    measure.throughput  experiment, hardware, workload, threads, target, phase, repeat, operation, value   [ops/s]
                        phase NULL is the whole measured window; operation 'all' is the total
    measure.latency     experiment, hardware, workload, threads, target, phase, repeat, operation, kind, statistic, value   [s]
                        repeat NULL is merged over repeats; phase NULL is the whole window
    measure.errors      experiment, hardware, workload, threads, target, phase, repeat, value   [share of operations, 0..1]
    measure.sample      measure, experiment, hardware, workload, threads, target, repeat, node, time, value   [base unit]
                        devices summed; time in whole seconds from the start of the measured window
    measure.cells       experiment, hardware, workload, threads, target, repeat: every planned cell, done or not

threads is BIGINT, target DOUBLE (NULL on a threads ramp), phase and repeat BIGINT from 1, names VARCHAR.
"""
