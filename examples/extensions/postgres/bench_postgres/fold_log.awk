# Folds the log of transactions: counts in buckets whose width is at most 1/128 of the value, in microseconds.
# Columns: client, number, time, script, epoch, microseconds of it, schedule lag (of an offered load). The time of an
# offered load begins with the scheduled start, so that without the lag it is the time of service.
function fold(kind, value,    width) {
    width = 1
    while (value / width >= 256) width *= 2
    bucket[sprintf("%s %.0f %.0f", kind, value - value % width, width)]++
    count[kind]++
    sum[kind] += value
    if (!(kind in low) || value < low[kind]) low[kind] = value
    if (value > high[kind]) high[kind] = value
}
{
    at = $5 + $6 / 1000000
    inside = at > start
    if ($3 !~ /^[0-9]+$/) {
        failed[$3]++
        if (inside) failed_inside[$3]++
        next
    }
    done++
    latency += $3
    lag = rate ? $7 : 0
    lags += lag
    if (lag > longest) longest = lag
    if (!inside) next
    fold("service", $3 > lag ? $3 - lag : 0)
    if (rate) fold("intended", $3 + 0)
    second = sprintf("%.0f", int(at - start))
    completed[second]++
    waited[second] += lag
}
END {
    print "pgbench transactions 1"
    printf "window %.6f %.6f\n", start, end
    printf "whole %.0f %.0f %.0f %.0f\n", done, latency, lags, longest
    for (kind in failed) printf "failed %s %.0f %.0f\n", kind, failed[kind], failed_inside[kind]
    for (kind in count) printf "latency %s %.0f %.0f %.0f %.0f\n", kind, count[kind], sum[kind], low[kind], high[kind]
    for (each in bucket) printf "bucket %s %.0f\n", each, bucket[each]
    for (second in completed) printf "second %s %.0f %.0f\n", second, completed[second], waited[second]
    print "end"
}
