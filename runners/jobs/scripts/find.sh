#!/bin/sh
# Says what became of a job.
: "${id?}"
. parts/root.sh
. parts/is_running.sh
cd -- "$root/$id" 2>/dev/null && [ -O . ] && [ -s pid ] || { echo none; exit 0; }
if is_running .; then echo running; exit 0; fi
rc=$([ ! -e rc ] || head -n 1 rc)
case $rc in ''|unattended) echo killed;; *) echo ended;; esac
