#!/bin/sh
# The runtime library from outside: usage run.sh BUILD INSTALLED [TSAN_LIB], from the top of the repository.
# INSTALLED is DESTDIR of a make install with PREFIX=/usr, TSAN_LIB the folder of a build under ThreadSanitizer.
set -u
B=$1 D=$PWD/$2 T=${3:-}
L=$D/usr/lib
SO=$(sed -n 's/^.define HD_SONAME *"\([0-9]*\)".*/\1/p' runtime/device/hal.h)
W=$(mktemp -d /tmp/heddle-test-rt-XXXXXX)
trap 'rm -rf "$W"' EXIT
trap 'exit 1' INT TERM
failed=0
export PKG_CONFIG_SYSROOT_DIR="$D" PKG_CONFIG_PATH="$L/pkgconfig"
ok() { echo "  ok    rt: $1"; }
bad() {
    echo "  FAIL  rt: $1"
    [ -z "${2:-}" ] || cat "$2"
    failed=1
}
CC="${CC:-cc} -std=c11 -D_XOPEN_SOURCE=700 -Wall -Wextra -Wpedantic -Werror -pthread"

bytes=$(wc -c < "$L/libheddle_rt.so.$SO")
if [ "$bytes" -lt 204800 ]; then ok "libheddle_rt.so is $bytes bytes, stripped (below 204800)"
else bad "libheddle_rt.so is $bytes bytes, at most 204800"; fi
if nm "$B/lib/libheddle_rt.so.$SO" | grep -E ' (hd_iss|hd_rtl|hd_axi_mem|k_q|hd_graph)_?' > "$W/log"; then
    bad "simulators or kernels are in libheddle_rt.so" "$W/log"
else ok "no simulator and no kernel in it"; fi
nm -D --defined-only "$L/libheddle_rt.so.$SO" | awk '{ print $3 }' | sort > "$W/exported"
sed -n 's/^HD_API.*[ *]\(hd_[a-z_0-9]*\)(.*/\1/p' "$D/usr/include/heddle_rt.h" | sort > "$W/declared"
if cmp -s "$W/exported" "$W/declared"; then ok "it exports the $(wc -l < "$W/declared") functions of its header, and nothing else"
else diff "$W/exported" "$W/declared" > "$W/log"; bad "exported and declared functions differ" "$W/log"; fi
ok "beside it: libheddle_host.so $(wc -c < "$L/libheddle_host.so.$SO"), libheddle_sim.so $(wc -c < "$L/libheddle_sim.so.$SO") bytes"
if echo '#include <heddle_rt.h>' | ${CXX:-c++} -std=c++11 -Wall -Wextra -Werror -fsyntax-only -xc++ "-I$D/usr/include" - > "$W/log" 2>&1
then ok "the header compiles as C++"; else bad "the header as C++" "$W/log"; fi

"$D/usr/bin/heddle" compile test/models/digits -o "$W/digits.hdl" > "$W/log" 2>&1 || bad "compile" "$W/log"

# The program of docs/, from installed files only, shared and static.
lines=$(wc -l < docs/example.c)
if cp docs/example.c "$W/" && cd "$W" &&
    $CC example.c $(pkg-config --cflags --libs heddle_rt) -o shared > log 2>&1 &&
    LD_LIBRARY_PATH=$L ./shared digits.hdl iss > out 2>&1 && grep -qx "a 2, in [0-9]* cycles" out
then ok "docs/example.c, $lines lines, through pkg-config: $(cat out)"
else cat log >> out; bad "docs/example.c" "$W/out"; fi
if $CC example.c $(pkg-config --cflags heddle_rt) "$L/libheddle_rt.a" $(pkg-config --static --libs-only-l heddle_rt | sed 's/-lheddle_rt//') \
    -o static > log 2>&1 && LD_LIBRARY_PATH=$L ./static digits.hdl iss > out2 2>&1 && cmp -s out out2
then ok "the same, linked with libheddle_rt.a"
else cat log >> out2; bad "docs/example.c with the static library" "$W/out2"; fi
if LD_LIBRARY_PATH=$L ./shared digits.hdl toaster > out 2>&1 || ! grep -q "toaster: unknown, this program has .*golden" out
then bad "unknown device" "$W/out"; fi
mkdir -p bare && cp "$L/libheddle_rt.so.$SO" bare/
for l in sim:iss host:golden; do
    if LD_LIBRARY_PATH=$W/bare ./shared digits.hdl "${l#*:}" > out 2>&1 || ! grep -q "libheddle_${l%:*}.so.$SO, which is not here" out
    then bad "without libheddle_${l%:*}" "$W/out"; else ok "without libheddle_${l%:*}: an error that names it"; fi
done
cp "$L/libheddle_host.so.$SO" bare/
LD_LIBRARY_PATH=$W/bare ./shared digits.hdl golden > out 2>&1 || bad "golden without libheddle_sim" "$W/out"
cd "$OLDPWD" || exit 1

if $CC test/rt/rt_test.c $(pkg-config --cflags --libs heddle_rt) -o "$W/rt_test" > "$W/log" 2>&1 &&
    LD_LIBRARY_PATH=$L timeout 60 "$W/rt_test" "$W/digits.hdl" > "$W/log" 2>&1
then cat "$W/log"; else bad "test/rt/rt_test.c" "$W/log"; fi
if [ -n "$T" ]; then
    if $CC -g -fsanitize=thread test/rt/rt_test.c "-I$D/usr/include" "-L$T" -l:libheddle_rt.so.$SO -o "$W/rt_tsan" > "$W/log" 2>&1 &&
        TSAN_OPTIONS=halt_on_error=1 LD_LIBRARY_PATH=$PWD/$T timeout 120 "$W/rt_tsan" "$W/digits.hdl" > "$W/log" 2>&1
    then cat "$W/log"; else bad "threads" "$W/log"; fi
fi

# The whole library: heddle.h, heddle.pc, CMake.
if echo '#include <heddle.h>' | ${CXX:-c++} -std=c++11 -Wall -Wextra -Werror -fsyntax-only -xc++ "-I$D/usr/include" - > "$W/log" 2>&1
then ok "heddle.h compiles as C++"; else bad "heddle.h as C++" "$W/log"; fi
cp -r test/rt/network.c test/models/digits "$W/" && cd "$W"
if $CC network.c $(pkg-config --cflags --libs heddle) -o network > log 2>&1 && LD_LIBRARY_PATH=$L ./network digits > out 2>&1 &&
    grep -qx "digits on base: [0-9]* cycles" out
then ok "a network through heddle.h and pkg-config: $(cat out)"
else cat log >> out; bad "test/rt/network.c" "$W/out"; fi
if command -v cmake > /dev/null; then
    printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(network C)' 'find_package(heddle REQUIRED)' \
        'add_executable(by_cmake network.c)' 'target_link_libraries(by_cmake heddle::heddle)' > CMakeLists.txt
    if cmake -S . -B cmake "-DCMAKE_PREFIX_PATH=$D/usr" > log 2>&1 && cmake --build cmake >> log 2>&1 &&
        cmake/by_cmake digits 2>&1 | cmp -s - out
    then ok "the same through CMake"; else bad "CMake" "$W/log"; fi
else ok "(no cmake: its config file is not tried)"; fi
cd "$OLDPWD" || exit 1

for page in heddle.1 heddle_rt.3; do # every function of the header is on the page or the page points there
    [ -s "$D/usr/share/man/man${page##*.}/$page" ] || bad "$page is not installed"
done
exit "$failed"
