#!/bin/sh
# heddle compile --emit c: what it writes is compiled as strict C99 and as C++, and run on the ISS.
# Usage: run.sh BUILD SANITIZE, from the top of the repository; SANITIZE: flags of the build.
set -u
B=$1 F=$2
W=$(mktemp -d /tmp/heddle-test-bundle-XXXXXX)
trap 'rm -rf "$W"' EXIT
trap 'exit 1' INT TERM
failed=0
bad() { echo "  FAIL  bundle: $1"; cat "$W/log"; failed=1; }
STRICT="-Wall -Wextra -Wpedantic -Wshadow -Werror"

# model, machine, file of the model
one() {
    if "$B/heddle" compile "$3" --machine "$2" -o "$W/net.hdl" > "$W/log" 2>&1 &&
        "$B/heddle" compile "$3" --machine "$2" --emit c -o "$W/net.c" > "$W/log" 2>&1 &&
        ${CC:-cc} -std=c99 $STRICT -O1 -ffp-contract=off $F -c "$W/net.c" -o "$W/net.o" > "$W/log" 2>&1 &&
        echo '#include "net.h"' | ${CXX:-c++} -std=c++11 -Wall -Werror -fsyntax-only -xc++ "-I$W" - > "$W/log" 2>&1 &&
        ${CC:-cc} -std=c11 $STRICT -D_XOPEN_SOURCE=700 -I. "-I$W" $F test/bundle/host.c "$W/net.o" "$B/libheddle.a" \
            -rdynamic $LIBS -o "$W/host" > "$W/log" 2>&1 &&
        timeout 100 "$W/host" "$W/net.hdl" > "$W/log" 2>&1
    then echo "  ok    bundle: $1 on $2: $(tail -1 "$W/log")"
    else bad "$1 on $2"; fi
}
one digits base test/models/digits
one digits tiny test/models/digits
for m in mlperf_ic_resnet8_int8_qdq mlperf_kws_dscnn_int8_qdq mlperf_ad_autoencoder_int8_qdq; do
    [ ! -d "../shared/models/$m" ] || one "$m" base "../shared/models/$m"
done
exit "$failed"
