#!/bin/sh
# Random models of one operation each, golden against ONNX Runtime:  run.sh HEDDLE COUNT SEED FOLDER [DEVICE]
# ONNX Runtime stays outside the tree. To get it:
#   mkdir -p /tmp/ort && cd /tmp/ort && npm install onnxruntime-node --ignore-scripts
# and, when it lies elsewhere, ORT=PATH/TO/node_modules/onnxruntime-node.
set -e
ORT=${ORT:-/tmp/ort/node_modules/onnxruntime-node}
here=$(dirname "$0")
for tool in python3 node; do
    command -v $tool > /dev/null || { echo "  no $tool: not compared with ONNX Runtime"; exit 0; }
done
[ -d "$ORT" ] || { echo "  no $ORT: not compared with ONNX Runtime; $here/run.sh says how to get it"; exit 0; }
rm -rf "$4"
python3 "$here/cases.py" "$2" "$3" "$4"
node "$here/ort.js" "$ORT" "$4"
status=0
"$1" test "$4" --device "${5:-golden}" > "$4.txt" || status=$?
grep -v '^ok ' "$4.txt"
exit $status
