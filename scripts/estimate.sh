#!/bin/sh
# estimate.sh HEDDLE WORK NETWORK...: `heddle bench estimate` of networks (float ones are quantised
# into WORK first) on three machines and at two latencies; the first table that misses a bar.
set -e
heddle=$1 work=$2
shift 2
models=$(python3 scripts/cycles.py models "$heddle" --work "$work" "$@")
for machine in tiny base big; do
    for latency in 64 200; do
        at="$work/estimate-$machine-$latency.txt"
        "$heddle" bench estimate $models --machine $machine --mem-latency $latency >"$at" || {
            cat "$at"
            echo "estimate.sh: machine $machine, latency $latency: the estimate misses a bar" >&2
            exit 1
        }
        echo "  $machine, latency $latency: $(tail -1 "$at")"
    done
done
