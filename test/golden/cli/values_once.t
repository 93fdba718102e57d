# A value that is given twice, or in another notation, is one.
# RUN: d=$(mktemp -d); heddle sweep test/golden/state/models/cell.onnx --set n=8,8,0x8 --set k=8,16,8 -o $d | grep -o "of . candidates"; rm -r $d
#= of 2 candidates
