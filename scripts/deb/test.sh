#!/bin/sh
# Looks at the packages in a folder: lintian, where it is installed, and what they install, unpacked.
set -u
out=$1
W=$(mktemp -d /tmp/heddle-test-deb-XXXXXX)
trap 'rm -rf "$W"' EXIT
trap 'exit 1' INT TERM
failed=0
ok() { echo "  ok    deb: $1"; }
bad() {
    echo "  FAIL  deb: $1"
    [ -z "${2:-}" ] || cat "$2"
    failed=1
}
if command -v lintian > /dev/null; then
    if lintian --allow-root --fail-on error "$out"/*.deb > "$W/log" 2>&1
    then ok "lintian has no error ($(grep -c '^W' "$W/log") warnings)"; else bad "lintian" "$W/log"; fi
else
    echo "  SKIP  deb: lintian is not installed; scripts/deps.sh deb installs it"
fi
for d in "$out"/*.deb; do dpkg-deb -x "$d" "$W/root" || bad "$d cannot be unpacked"; done
export LD_LIBRARY_PATH="$W/root/usr/lib"
if "$W/root/usr/bin/heddle" compile test/models/digits -o "$W/digits.hdl" > "$W/log" 2>&1 &&
    "$W/root/usr/bin/heddle" run "$W/digits.hdl" --device iss >> "$W/log" 2>&1
then ok "the program compiles and runs"; else bad "the program" "$W/log"; fi
# The libraries of the best level that loader and processor know by name.
best=$(/lib64/ld-linux-x86-64.so.2 --help 2> /dev/null | sed -n 's/^ *\(x86-64-v[0-9]\) (supported.*/\1/p' | while read -r l; do
    [ ! -d "$W/root/usr/lib/glibc-hwcaps/$l" ] || { echo "/glibc-hwcaps/$l"; break; }
done)
if ldd "$W/root/usr/bin/heddle" | grep -q " $W/root/usr/lib$best/libheddle.so"
then ok "the program runs on ${best:-the plain libraries}"; else bad "the program should take $best"; ldd "$W/root/usr/bin/heddle"; fi
export PKG_CONFIG_SYSROOT_DIR="$W/root" PKG_CONFIG_PATH="$W/root/usr/lib/pkgconfig"
# shellcheck disable=SC2046
if ${CC:-cc} docs/example.c $(pkg-config --cflags --libs heddle_rt) -o "$W/example" > "$W/log" 2>&1 &&
    "$W/example" "$W/digits.hdl" iss > "$W/log" 2>&1
then ok "docs/example.c through pkg-config: $(cat "$W/log")"; else bad "docs/example.c" "$W/log"; fi
if command -v cmake > /dev/null; then
    mkdir "$W/cmake" && cp docs/example.c "$W/cmake/" && cat > "$W/cmake/CMakeLists.txt" << 'END'
cmake_minimum_required(VERSION 3.13)
project(example C)
find_package(heddle REQUIRED)
add_executable(example example.c)
target_link_libraries(example heddle::heddle)
END
    if cmake -S "$W/cmake" -B "$W/cmake/b" -DCMAKE_PREFIX_PATH="$W/root/usr" > "$W/log" 2>&1 &&
        cmake --build "$W/cmake/b" >> "$W/log" 2>&1 && "$W/cmake/b/example" "$W/digits.hdl" iss >> "$W/log" 2>&1
    then ok "docs/example.c through CMake: $(tail -1 "$W/log")"; else bad "CMake" "$W/log"; fi
else
    echo "  SKIP  deb: cmake is not installed; scripts/deps.sh deb installs it"
fi
exit "$failed"
