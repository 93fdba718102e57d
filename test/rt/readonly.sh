#!/bin/sh
# A source tree that its user cannot write: models of the RTL go to his cache. readonly.sh BUILD
set -u
B=$1
W=$(mktemp -d /tmp/heddle-readonly-XXXXXX)
trap 'chmod -R u+w "$W"; rm -rf "$W"' EXIT
fail() { echo "  FAIL  read-only tree: $1" >&2; cat "$W/log" >&2; exit 1; }

: > "$W/log"
make -n BUILD_DIR="$W/x" rtl-tiny > "$W/log" 2>&1 || fail "make -n with another BUILD_DIR"
grep -q "$W/x/rtl/tiny" "$W/log" || fail "BUILD_DIR has no effect"
! grep -E '(mkdir -p|>|-o|--Mdir) *build/' "$W/log" > /dev/null || fail "it writes to build/, too"

# A tree with a Makefile that only copies: what counts is where.
mkdir -p "$W/tree/hw" "$W/tree/build/release" "$W/home"
cp "$B/heddle" "$W/tree/build/release/"
cp -L build/rtl/libhd_rtl_tiny.so "$W/model.so"
cp -r test/models/digits "$W/digits"
touch "$W/tree/hw/rules.mk"
printf 'rtl-tiny:\n\tmkdir -p $(BUILD_DIR)/rtl && cp %s $(BUILD_DIR)/rtl/libhd_rtl_tiny.so\n' \
    "$W/model.so" > "$W/tree/Makefile"
chmod -R a-w "$W/tree"
chmod -R a+rX "$W"
chmod 777 "$W/home"
as_user="env -u HEDDLE_RTL_DIR -u XDG_CACHE_HOME HOME=$W/home"
if [ "$(id -u)" = 0 ]; then
    command -v setpriv > /dev/null || { echo "  SKIP  read-only tree: as root, without setpriv"; exit 0; }
    as_user="setpriv --reuid=65534 --regid=65534 --clear-groups $as_user"
fi
run="$W/tree/build/release/heddle run $W/digits --device rtl --machine tiny"
$as_user $run > "$W/log" 2>&1 || fail "the first run"
ls "$W/home/.cache/heddle/"*/rtl/libhd_rtl_tiny.so > "$W/log" 2>&1 || fail "no model in ~/.cache/heddle"
$as_user env XDG_CACHE_HOME="$W/home/other" $run > "$W/log" 2>&1 || fail "with XDG_CACHE_HOME"
ls "$W/home/other/heddle/"*/rtl/libhd_rtl_tiny.so > "$W/log" 2>&1 || fail "no model in XDG_CACHE_HOME"
echo "  ok    read-only tree: models of the RTL are in the user's cache"
