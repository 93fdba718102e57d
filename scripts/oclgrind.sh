#!/bin/sh
# Runs ONNX test folders on device opencl under oclgrind, with the tiles of a GPU: races between the threads of a block
# and accesses out of bounds are errors.   oclgrind.sh BUILD FOLDER...
set -eu
build=$1
shift
log=$build/oclgrind.log
HEDDLE_GPU_TILES=gpu HEDDLE_OPENCL=Oclgrind oclgrind --data-races "$build/heddle" test --device opencl "$@" > "$log" 2>&1 ||
    { grep -v '^ok' "$log"; exit 1; }
if grep -q 'data race\|Invalid read\|Invalid write' "$log"; then
    grep -m 10 -A 6 'data race\|Invalid' "$log"
    exit 1
fi
echo "  oclgrind: no race, no access out of bounds; $(tail -1 "$log")"
