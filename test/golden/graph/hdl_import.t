# RUN: t=$(mktemp) && heddle compile test/models/digits -o $t.hdl > /dev/null && { heddle graph $t.hdl --stage import -o - 2>&1 | sed "s#$t#FILE#"; rm -f $t $t.hdl; }
#= heddle graph: FILE.hdl: a compiled model does not hold the graph as written; use --stage legalize, or the .onnx file
