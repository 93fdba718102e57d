#!/bin/sh
# Debian packages of an installation: build.sh STAGE OUT VERSION, from the top of the repository. STAGE is
# DESTDIR of `make install` with PREFIX=/usr. No root is needed.
set -eu
stage=$1 out=$2 version=$3
arch=$(dpkg --print-architecture)
who="Heddle <heddle@heddle.invalid>"
so=$(sed -n 's/^.define HD_SONAME *"\([0-9]*\)".*/\1/p' runtime/device/hal.h)
lib=libheddle$so
when=$(git log -1 --format=%cD 2> /dev/null || echo "Thu, 01 Jan 1970 00:00:00 +0000")
rm -rf "$out/tree"
mkdir -p "$out/tree"

# take PACKAGE PATH...: moves paths of the stage, as they lie, into the package's tree.
take() {
    to=$out/tree/$1
    shift
    for f; do
        for from in "$stage"/$f; do
            [ -e "$from" ] || { echo "deb: $stage/$f is not there; make install puts it there" >&2; exit 1; }
            mkdir -p "$to/$(dirname "${from#"$stage"/}")"
            cp -a "$from" "$to/${from#"$stage"/}"
        done
    done
}

# needs FILE...: packages of this system that have the libraries which the files name, with versions.
needs() {
    for f; do objdump -p "$f" | sed -n 's/^ *NEEDED *//p'; done | sort -u | while read -r lib; do
        path=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | awk -v l="$lib" '$1 == l { print $NF; exit }')
        [ -n "$path" ] || continue # one of ours
        for p in "$path" "$(readlink -f "$path")"; do dpkg -S "$p" 2> /dev/null && break; done | head -1 | cut -d: -f1
    done | sort -u | while read -r p; do
        dpkg-query -W -f '${Package} (>= ${source:Upstream-Version})\n' "$p:$arch" 2> /dev/null || dpkg-query -W -f '${Package}\n' "$p"
    done | paste -sd, | sed 's/,/, /g'
}

# pack PACKAGE SECTION DEPENDS RECOMMENDS TITLE TEXT
pack() {
    tree=$out/tree/$1
    doc=$tree/usr/share/doc/$1
    mkdir -p "$doc" "$tree/DEBIAN"
    cp scripts/deb/copyright "$doc/copyright"
    printf '%s (%s) unstable; urgency=medium\n\n  * Built from the source tree.\n\n -- %s  %s\n' \
        heddle "$version" "$who" "$when" | gzip -9n > "$doc/changelog.gz"
    find "$tree/usr/share/man" -type f ! -name '*.gz' -exec gzip -9n {} + 2> /dev/null || :
    find "$tree" -type f -name '*.so*' -exec strip --strip-unneeded --remove-section=.comment --remove-section=.note {} +
    find "$tree" -type f -name '*.a' -exec strip --strip-debug {} +
    [ ! -d "$tree/usr/bin" ] || strip --remove-section=.comment --remove-section=.note "$tree"/usr/bin/*
    find "$tree" -type d -exec chmod 755 {} +
    find "$tree/usr" -type f ! -path '*/bin/*' -exec chmod 644 {} +
    (cd "$tree" && find usr -type f -exec md5sum {} + | LC_ALL=C sort -k2 > DEBIAN/md5sums)
    {
        printf 'Package: %s\nSource: heddle\nVersion: %s\nArchitecture: %s\nMaintainer: %s\n' "$1" "$version" "$arch" "$who"
        printf 'Installed-Size: %s\nSection: %s\nPriority: optional\n' "$(du -sk "$tree/usr" | cut -f1)" "$2"
        [ -z "$3" ] || printf 'Depends: %s\n' "$3"
        [ -z "$4" ] || printf 'Recommends: %s\n' "$4"
        printf 'Description: %s\n' "$5"
        printf '%s\n' "$6" | sed 's/^/ /'
    } > "$tree/DEBIAN/control"
    dpkg-deb --root-owner-group -Zxz --build "$tree" "$out/$1_${version}_$arch.deb" > /dev/null
    echo "  DEB   $out/$1_${version}_$arch.deb ($(wc -c < "$out/$1_${version}_$arch.deb") bytes)"
}

about="Heddle is an open int8 accelerator for neural networks, with a compiler,
two simulators that agree to the cycle, and a runtime."
take heddle usr/bin/heddle usr/share/man/man1/heddle.1 usr/share/bash-completion usr/share/zsh usr/lib/heddle
take "$lib" "usr/lib/libheddle*.so.$so"
[ ! -d "$stage/usr/lib/glibc-hwcaps" ] || take "$lib" usr/lib/glibc-hwcaps
take libheddle-dev usr/lib/libheddle.so usr/lib/libheddle_rt.so usr/lib/libheddle_rt.a usr/include usr/lib/pkgconfig \
    usr/lib/cmake usr/share/man/man3
take python3-heddle usr/lib/python3
mkdir -p "$out/tree/$lib/DEBIAN" "$out/tree/python3-heddle/DEBIAN"
echo 'activate-noawait ldconfig' > "$out/tree/$lib/DEBIAN/triggers"
for l in libheddle libheddle_rt libheddle_host libheddle_sim; do echo "$l $so $lib (>= $version)"; done \
    > "$out/tree/$lib/DEBIAN/shlibs"
# What each library exports, all since this version: none was released before.
for f in "$stage"/usr/lib/libheddle*.so."$so"; do
    echo "$(basename "$f") $lib #MINVER#"
    nm -D --defined-only "$f" | awk -v v="$version" '{ sub(/@@/, "@", $3)
        print " " $3 (index($3, "@") ? "" : $2 == "A" ? "@" $3 : "@Base") " " v }' | LC_ALL=C sort
done > "$out/tree/$lib/DEBIAN/symbols"
plugins=$(find "$stage/usr/lib/heddle" -maxdepth 1 -name '*.so')
models=$(find "$stage/usr/lib/heddle/rtl" -name '*.so')
# shellcheck disable=SC2086
pack heddle science "$lib (= $version), $(needs "$stage/usr/bin/heddle" $models)" "$([ -z "$plugins" ] || needs $plugins | sed 's/libc6[^,]*, //')" \
    "compiler and simulators of the Heddle accelerator" "$about
This package has the program heddle."
pack "$lib" libs "$(needs "$stage"/usr/lib/libheddle*.so.$so)" "" "library of the Heddle accelerator" "$about
This package has the shared libraries: libheddle with all of it, and
libheddle_rt, which loads and runs compiled models."
pack libheddle-dev libdevel "$lib (= $version)" "pkgconf | cmake" "library of the Heddle accelerator: files for development" "$about
This package has headers, the static library, and what pkg-config and CMake
read."
cat > "$out/tree/python3-heddle/DEBIAN/postinst" << 'END'
#!/bin/sh
set -e
[ "$1" != configure ] || ! command -v py3compile > /dev/null || py3compile -p python3-heddle
END
cat > "$out/tree/python3-heddle/DEBIAN/prerm" << 'END'
#!/bin/sh
set -e
! command -v py3clean > /dev/null || py3clean -p python3-heddle
END
chmod 755 "$out/tree/python3-heddle/DEBIAN/postinst" "$out/tree/python3-heddle/DEBIAN/prerm"
pack python3-heddle python "$lib (= $version), python3 (>= 3.11), libc6" "heddle, python3-numpy" \
    "compiler and simulators of the Heddle accelerator: Python" "$about
This package has the Python package heddle."
