#!/bin/sh
# `is_ours`: the process `pid` is the server that was noted, with when it began in `since`.
#
# Another process may have the number by now. A server may have another name and environment than it was started with.
began() { echo "$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20) $(cat /proc/sys/kernel/random/boot_id)"; }
is_ours() { [ -n "$pid" ] && [ "$(began "$pid")" = "${since:-}" ]; }
