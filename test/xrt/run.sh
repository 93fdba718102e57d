#!/bin/sh
# Device xrt in hardware emulation: usage run.sh BUILD, from the top of the repository. Under a minute.
# Every run has a session of its own, since XRT's emulation signals its whole process group when it crashes.
set -u
B=$(cd "$1" && pwd)
H=$B/heddle
D=$PWD/test/models/digits
W=$(mktemp -d /tmp/heddle-test-xrt-XXXXXX)
failed=0
export XCL_EMULATION_MODE=hw_emu HEDDLE_RTL_DIR="$PWD/build/rtl"
unset XILINX_XRT XRT_INI_PATH HEDDLE_XCLBIN HEDDLE_EMU_DEVICE EMULATION_SOCKETID || :
trap 'rm -rf "$W"' EXIT
trap 'exit 1' INT TERM

ok() { echo "  ok    xrt: $1"; }
bad() {
    echo "  FAIL  xrt: $1"
    [ -z "${2:-}" ] || tail -12 "$2"
    failed=1
}
alone() {
    limit=$1
    shift
    timeout -s KILL "$limit" setsid -w "$@"
}
cycles() { sed -n 's/^\([0-9]*\) cycles in .*/\1/p' "$1"; }

# name, expectation is status 0, command...
check() {
    name=$1
    shift
    if alone 100 "$@" > "$W/log" 2>&1; then ok "$name"; else bad "$name" "$W/log"; fi
}
# Outputs and cycles of a simulator and of the same behind XRT; then options of both.
same() {
    dev=$1
    shift
    "$H" run "$D" --device "$dev" --outputs "$W/a.npz" "$@" > "$W/a" 2>&1
    behind=${BEHIND:-xrt}
    HEDDLE_EMU_DEVICE=$dev alone 100 "$H" run "$D" --device "$behind" --outputs "$W/b.npz" "$@" > "$W/b" 2>&1
    if [ -n "$(cycles "$W/a")" ] && [ "$(cycles "$W/a")" = "$(cycles "$W/b")" ] && cmp -s "$W/a.npz" "$W/b.npz"; then
        ok "$dev behind $behind${HEDDLE_XRT_START:+, started as a run of XRT}: outputs equal, $(cycles "$W/b") cycles on both${*:+ ($*)}"
    else
        bad "$dev behind $behind: outputs or cycles differ: $(cycles "$W/a") and $(cycles "$W/b") cycles" "$W/b"
    fi
}
# The device process of host process $1, or nothing.
device_of() { ps -o pid= -o args= --ppid "$1" 2> /dev/null | awk '/emu-device/ { print $1; exit }'; }
# Waits up to 10 s for the end of a process (a zombie of ours has ended).
ends_soon() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        case $(ps -o stat= -p "$1" 2> /dev/null) in "" | Z*) return 0 ;; esac
        sleep 0.5
    done
    return 1
}
# Waits up to 10 s until a device process of host $1 is there; prints it.
wait_device() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        p=$(device_of "$1")
        [ -z "$p" ] || { echo "$p"; return; }
        sleep 0.5
    done
}

same rtl
same rtl --mem-latency 200 --mem-bytes-per-cycle 8 --mem-outstanding 4
same iss
HEDDLE_XRT_START=run same iss
# XRT's OpenCL sleeps a second in each run; the preloaded library does not let it
LD_PRELOAD="$B/test/xrt/nosleep.so" BEHIND=xrt-opencl same rtl
LD_PRELOAD="$B/test/xrt/nosleep.so" BEHIND=xrt-opencl same iss --mem-latency 200
check "20 runs in one process, OpenCL" env LD_PRELOAD="$B/test/xrt/nosleep.so" "$H" run "$D" --device xrt-opencl --repeat 20
HEDDLE_EMU_DEVICE=iss alone 100 "$H" run "$D" --device xrt --trace "$W/t.json" > "$W/log" 2>&1
check "its trace has what the counters say" python3 scripts/check_trace.py "$W/t.json"
check "every layer of digits bit-equal to rtl" "$H" compare "$D" --devices rtl,xrt --keep "*"
check "digits against golden, three data sets" "$H" test --device xrt "$D"
check "20 runs in one process" "$H" run "$D" --device xrt --repeat 20
check "device conformance" "$B/test/device/test_device" xrt
check "device conformance, OpenCL" env LD_PRELOAD="$B/test/xrt/nosleep.so" "$B/test/device/test_device" xrt-opencl

check "device conformance, started as runs of XRT" env HEDDLE_XRT_START=run "$B/test/device/test_device" xrt
check "random networks, every operation of the machine" "$B/test/random/random_net" --device xrt --machine base --count 12
# every operation of the machine, one program each: as on the ISS
n=0
for t in test/golden/iss/*.t; do
    grep -q 'exec %s --devices iss,rtl --machine tiny$' "$t" && ! grep -q 'EXIT: 1' "$t" || continue
    n=$((n + 1))
    HEDDLE_EMU_DEVICE=iss alone 30 "$H" exec "$t" --devices iss,xrt --machine tiny > "$W/log" 2>&1 || bad "$t" "$W/log"
    [ "$n" -lt 12 ] || break
done
ok "$n programs of test/golden/iss, the same on iss and xrt"

# three cores: each is a compute unit, and runs of a queue are on all of them
for d in iss rtl; do
    check "12 runs on 3 cores, each with the outputs of the first, $d" env HEDDLE_EMU_DEVICE=$d "$H" run "$D" --device xrt --set cores=3 --repeat 12
done
check "12 runs on 3 cores, started as runs of XRT" env HEDDLE_EMU_DEVICE=iss HEDDLE_XRT_START=run "$H" run "$D" --device xrt --set cores=3 --repeat 12
check "one of 2 cores, OpenCL" env LD_PRELOAD="$B/test/xrt/nosleep.so" HEDDLE_EMU_DEVICE=iss "$H" run "$D" --device xrt-opencl --set cores=2 --repeat 4

# two processes at once
alone 100 "$H" run "$D" --device xrt --repeat 20 > "$W/two" 2>&1 & other=$!
check "two processes at once" "$H" run "$D" --device xrt --repeat 20
wait "$other" || bad "the other of two processes" "$W/two"

# the device dies: an error within 10 s. The host is started without timeout, so that its process is known.
"$H" run "$D" --device xrt --repeat 1000000 > "$W/log" 2>&1 & host=$!
dev=$(wait_device "$host")
sleep 2
kill -KILL "$dev" 2> /dev/null
ends_soon "$host" || kill -KILL "$host"
wait "$host" 2> /dev/null
status=$?
if [ "$status" = 1 ] && grep -q "emulated device died" "$W/log"; then
    ok "a killed device is an error within 10 s"
else
    bad "a killed device: exit status $status" "$W/log"
fi

LD_PRELOAD="$B/test/xrt/nosleep.so" "$H" run "$D" --device xrt-opencl --repeat 1000000 > "$W/log" 2>&1 & host=$!
dev=$(wait_device "$host")
sleep 1
kill -KILL "$dev" 2> /dev/null
ends_soon "$host" || kill -KILL "$host"
wait "$host" 2> /dev/null
status=$?
if [ "$status" = 1 ] && grep -q "emulated device died" "$W/log"; then
    ok "and through OpenCL"
else
    bad "a killed device through OpenCL: exit status $status" "$W/log"
fi

# the host dies: the device goes, too
"$H" run "$D" --device xrt --repeat 1000000 > "$W/log" 2>&1 & host=$!
dev=$(wait_device "$host")
folder=$(tr '\0' '\n' < "/proc/$dev/cmdline" | sed -n 's|^\(/tmp/heddle-xrt-[A-Za-z0-9]*\)/machine$|\1|p')
sleep 2
kill -KILL "$host" 2> /dev/null
wait "$host" 2> /dev/null
if [ -n "$dev" ] && ends_soon "$dev"; then
    ok "the device of a killed host ends"
else
    bad "the device of a killed host stays" "$W/log"
    kill -KILL "$dev" 2> /dev/null
fi
for _ in 1 2 3 4 5 6; do [ ! -e "$folder" ] || sleep 0.5; done
if [ -n "$folder" ] && [ ! -e "$folder" ] && [ ! -e "$B/emulation_debug.log" ]; then ok "and removes what it left: folder and log"
else bad "a killed host leaves '$folder' or its log"; fi
# both die: the next one removes what they left
"$H" run "$D" --device xrt --repeat 1000000 > "$W/log" 2>&1 & host=$!
dev=$(wait_device "$host")
folder=$(tr '\0' '\n' < "/proc/$dev/cmdline" | sed -n 's|^\(/tmp/heddle-xrt-[A-Za-z0-9]*\)/machine$|\1|p')
kill -KILL "$host" "$dev" 2> /dev/null
wait "$host" 2> /dev/null
ends_soon "$dev"
HEDDLE_EMU_DEVICE=iss alone 60 "$H" run "$D" --device xrt > "$W/log" 2>&1 || bad "a run after that" "$W/log"
if [ -n "$folder" ] && [ ! -e "$folder" ]; then ok "the next run removes what both left"
else bad "a killed host and device leave '$folder'"; fi

# a host that knows nothing of us but the file: XRT unpacks it and starts the device itself
mkdir -p "$W/xrt/lib" "$W/run"
lib=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | sed -n 's/.*=> \(.*libxrt_coreutil\.so\.2\)$/\1/p' | head -1)
ln -s "$(dirname "$lib")/libxrt_hwemu.so.2" "$W/xrt/lib/"
"$H" xclbin write -o "$W/plain.xclbin" --machine base > "$W/log" 2>&1 || bad "xclbin write" "$W/log"
set_plain="XILINX_XRT=$W/xrt USER=${W#/tmp/} SDACCEL_EM_RUN_DIR=$W/run"
if command -v unzip > /dev/null; then
    check "device started by XRT from the xclbin" env $set_plain "$B/test/xrt/plain_host" "$W/plain.xclbin"
else
    echo "  skip  xrt: device started by XRT: unzip is not installed"
fi

"$H" emu-device --device iss "$W/socket" > "$W/dev" 2>&1 & dev=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ ! -S "$W/D2X_unix_sock_socket" ] || break
    sleep 0.2
done
check "device started first, listening" \
    env $set_plain EMULATION_SOCKETID=socket "$B/test/xrt/plain_host" "$W/plain.xclbin" listens
ends_soon "$dev" || kill -KILL "$dev"
wait "$dev" || bad "the listening device ended with an error" "$W/dev"
rm -f "$B/test/xrt/emulation_debug.log"

left=$(find "$B" -name emulation_debug.log -o -name .run -o -name '*simulate.log' | head -3)
[ -z "$left" ] || bad "files left behind: $left"
exit "$failed"
