#!/bin/sh
# with_progress.sh FOLDER LABEL COMMAND...: runs a build by Verilator; every EVERY seconds (default 5) it says on file
# descriptor 3 how many files of FOLDER have been compiled since it began.
folder=$1 label=$2
shift 2
every=${EVERY:-5}
begin=$(mktemp) || exit 1
"$@" &
pid=$!
(
    trap 'kill "$nap" 2> /dev/null; exit' TERM
    s=0
    while sleep "$every" & nap=$!; wait "$nap"; do
        s=$((s + every))
        made=$(find "$folder" -name '*.o' -newer "$begin" 2> /dev/null | wc -l)
        all=$(($(find "$folder" -name '*.cpp' 2> /dev/null | wc -l) + 4)) # and rtl_model, and those of Verilator
        if [ "$made" = 0 ]; then echo "  VLT   $label: reading the RTL, $s s" >&3
        else echo "  VLT   $label: $made of $all files compiled, $s s" >&3; fi
    done
) &
watcher=$!
wait "$pid"
rc=$?
kill "$watcher" 2> /dev/null
wait "$watcher" 2> /dev/null
rm -f "$begin"
exit "$rc"
