#!/bin/sh
# Fetches ONNX Runtime, the peer of `heddle bench cpu`, into a folder outside the tree (default
# /tmp/ort) and prints what to set. Needs npm; 290 MB, as the package holds every platform.
set -eu
to=${1:-/tmp/ort}
lib=node_modules/onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1
mkdir -p "$to"
[ -e "$to/$lib" ] || (cd "$to" && npm install --silent --ignore-scripts --prefix . onnxruntime-node)
echo "export HEDDLE_ORT=$to/$lib"
