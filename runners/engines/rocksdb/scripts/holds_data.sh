#!/bin/sh
# Prints how many cells wrote to the data set $3 in the directory $1, by the marker $2; `changed` when the database is
# broken, or its files are not those of the list $4 (none with ""); ends with 1 when it holds another data set.
. parts/data_files.sh
cd -- "$1" && [ -f IDENTITY ] || exit 1
read -r dataset identity writers <"$2"
[ "$dataset $identity" = "$3 $(cat IDENTITY)" ] || exit 1
[ -z "$4" ] || [ ! -f "$4" ] || [ "$(data_files)" = "$(cat -- "$4")" ] || { echo changed; exit; }
manifest=$(cat CURRENT 2>/dev/null) && [ -s "$manifest" ] || { echo changed; exit; }
echo "${writers:-0}"
