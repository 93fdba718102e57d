#!/bin/sh
# estimate.sh HEDDLE WORK NETWORK...: `heddle bench estimate` of networks (float ones are quantised
# into WORK first) on three machines and at two latencies; the table of those that miss a bar and
# are not in test/estimate_known.txt.
set -e
heddle=$1 work=$2
shift 2
models=$(python3 scripts/cycles.py models "$heddle" --work "$work" "$@")
for machine in tiny base big; do
    for latency in 64 200; do
        at="$work/estimate-$machine-$latency.txt"
        status=0
        "$heddle" bench estimate $models --machine $machine --mem-latency $latency >"$at" || status=$?
        rows=$(awk '/missed *$/ && !/ bar / {print $1}' "$at")
        new=$(for name in $rows; do
            grep -q "^$machine $latency $name " test/estimate_known.txt || echo "$name"
        done)
        if [ -n "$new" ] || { [ $status != 0 ] && [ -z "$rows" ]; }; then
            cat "$at"
            echo "estimate.sh: machine $machine, latency $latency: the estimate misses a bar" >&2
            exit 1
        fi
        echo "  $machine, latency $latency: $(tail -1 "$at")"
    done
done
