#!/bin/sh
# Depthwise layers of stride 2 that stream: results, and which unit writes the padding above. Run by depthwise_pairs.t.
t=$(mktemp -d)
trap 'rm -r "$t"' EXIT
while read -r shape; do
    # shellcheck disable=SC2086
    python3 test/golden/compare/make_depthwise.py $shape "$t/m.onnx"
    for m in tiny base; do
        same=$(heddle compare "$t/m.onnx" --devices golden,iss --machine $m | tail -1)
        heddle compile "$t/m.onnx" --machine $m --dump program > "$t/program"
        grep -q 'vx.map.*a_kind=4' "$t/program" && by=vx || by=lx
        echo "$shape, $m: $same; padding above by $by"
    done
done <<END
512 14 uint8 131 3
96 57 int8 -7 3
160 31 int8 9 2
END
