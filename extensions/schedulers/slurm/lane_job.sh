#!/bin/sh
# One lane as a batch job. USR1 comes some time before the time limit: the lane stops, and the job is queued again for
# what is left of it, unless no cell became good in its time. TERM comes to all processes of a job that is
# cancelled or preempted: the lane gets it by itself.
: "${python?}" "${run?}" "${lane?}" "${journal?}" "${wait?}"

# A job that Slurm runs again, as after a dead node, waits until the hosts show no sign of life of the one before. Only
# --wait, when a user has given it, waits for other runs for as long as they take.
again=
[ -z "${SLURM_RESTART_COUNT:-}" ] || again=--requeued

cells() {
    { grep -c '"type":"cell_ended".*"status":"ok"' "$journal" 2>/dev/null || :; } | tail -n 1
}

before=$(cells)
limit=
trap 'limit=1; kill -TERM "$child" 2>/dev/null' USR1
trap : TERM
"$python" -c 'from benchbrief.start import main; main()' lane "$run" "$lane" --quiet ${wait:+"$wait"} ${again:+"$again"} &
child=$!
wait "$child"
code=$?
while kill -0 "$child" 2>/dev/null; do
    wait "$child"
    code=$?
done
if [ -n "$limit" ] && [ "$code" = 130 ]; then
    if [ "$(cells)" -gt "${before:-0}" ] 2>/dev/null; then
        echo "the time limit is near: the job is queued again for the cells that are left"
        scontrol requeue "$SLURM_JOB_ID" && sleep 60
    else
        echo "error: no cell ended well within the job's time limit"
    fi
fi
exit "$code"
