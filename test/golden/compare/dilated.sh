#!/bin/sh
# Windows that span too much of their operand: results, and that nothing of them is host work. Run by dilated.t.
t=$(mktemp -d)
trap 'rm -r "$t"' EXIT
while read -r shape; do
    # shellcheck disable=SC2086
    python3 test/golden/compare/make_dilated.py $shape "$t/m.onnx"
    for m in tiny base; do
        same=$(heddle compare "$t/m.onnx" --devices golden,iss --machine $m | tail -1)
        images=$(heddle compile "$t/m.onnx" --machine $m --dump layers | sed -n 's/^tensor.* y1.*n=\([0-9]*\) h.*/\1/p' | head -1)
        host=$(heddle run "$t/m.onnx" --machine $m | grep -c '^on the host')
        echo "$shape, $m: $same; $images images, $host parts on the host"
    done
done <<END
256 33 20 16 9 16
128 40 29 17 13 21
2048 9 50 4 20 4
END
