# A journal that a full disk cuts is no success.
# RUN: d=$(mktemp -d); (trap '' XFSZ; ulimit -f 1; heddle sweep test/golden/state/models/cell.onnx --set n=8,16,32 --set k=8,16,32 -o $d > /dev/null) 2>&1 | sed "s|$d|DIR|"; rm -r $d
#= heddle sweep: DIR/journal.jsonl: cannot write all of it; is the disk full?
