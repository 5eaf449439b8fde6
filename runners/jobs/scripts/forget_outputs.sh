#!/bin/sh
# Output during this step is lost. It can only come from a process that the job left, which is ended right after.
: "${program?}"
masked=
if (umask 077 && printf %s "$program" >forget.sed); then
    masked=yes
    for printed in stdout stderr; do
        [ -e "$printed" ] || continue
        LC_ALL=C sed -E -f forget.sed "$printed" >"$printed.new" && mv -T -- "$printed.new" "$printed" || masked=
        rm -f -- "$printed.new"
    done
fi
rm -f forget.sed
[ -n "$masked" ]
