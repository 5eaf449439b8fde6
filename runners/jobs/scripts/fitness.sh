#!/bin/sh
# Prints a line for each thing that is wrong with the host: programs that it lacks, and a directory of jobs that is unfit.
: "${needed?}"
. ../../jobs/scripts/parts/root.sh
for each in $needed; do command -v "$each" >/dev/null || echo lacks "$each"; done
if [ -e "$root" ] || [ -L "$root" ]; then
    [ -d "$root" ] && [ ! -L "$root" ] && [ -O "$root" ] || echo unsafe "$root"
elif ! [ -d "${root%/*}" ] || ! [ -w "${root%/*}" ]; then echo unwritable "${root%/*}"; fi
