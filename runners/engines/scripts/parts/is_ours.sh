#!/bin/sh
# `is_ours`: the process `pid` is the server of the directory `data`.
#
# Its environment names the directory: another process may have the number by now.
is_ours() { [ -n "$pid" ] && tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qxF -- "BENCHBRIEF_SERVER=$data"; }
