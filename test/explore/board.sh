#!/bin/sh
# A machine that heddle explore writes for kv260: confirmed on the RTL, packaged, equal on golden, iss and rtl, and behind
# XRT's emulation. usage: board.sh BUILD WORK, from the top of the repository. Some minutes: it builds a model of the RTL.
set -eu
H=$PWD/$1/heddle W=$2 NET=../shared/models/mlperf_ic_resnet8_int8_qdq
[ -d "$NET" ] || NET=test/models/digits
export HEDDLE_RTL_DIR="$PWD/build/rtl"
unset XILINX_XRT XRT_INI_PATH HEDDLE_XCLBIN EMULATION_SOCKETID || :
cycles() { sed -n 's/^\([0-9]*\) cycles in .*/\1/p' "$1"; }

rm -rf "$W"
"$H" explore "$NET" --board kv260 --set k=8 --set n=8 --set xm_bytes=32768 --set wm_bytes=65536 --set am_bytes=32768 \
    --set pm_bytes=16384 --set axi_bits=64,128 --limit ms=1.2 --confirm rtl -o "$W" | tee "$W.log"
grep -q 'estimate [+-][01]\.' "$W.log" || { echo "board: the front was not confirmed within 2 %"; exit 1; }
M=$W/front-1.machine
${MAKE:-make} -s kernel-files MACHINE="$M"
grep -q 'AxiBits *= *128' build/xrt/front-1.machine/hd_cfg_pkg.sv || { echo "board: the kernel is of another machine"; exit 1; }
echo "  ok    board: make kernel packages the machine"
"$H" compare "$NET" --machine "$M" --devices golden,iss,rtl
"$H" run "$NET" --machine "$M" --device rtl --outputs "$W/rtl.npz" > "$W/rtl.log"
ldconfig -p | grep -q 'libxrt_coreutil\.so\.2' || { echo "  SKIP  board: libxrt is not installed; scripts/deps.sh xrt installs it"; exit 0; }
XCL_EMULATION_MODE=hw_emu HEDDLE_EMU_DEVICE=rtl timeout -s KILL 500 setsid -w \
    "$H" run "$NET" --machine "$M" --device xrt --outputs "$W/xrt.npz" > "$W/xrt.log" 2>&1 || { tail "$W/xrt.log"; exit 1; }
cmp "$W/rtl.npz" "$W/xrt.npz"
[ -n "$(cycles "$W/rtl.log")" ] && [ "$(cycles "$W/rtl.log")" = "$(cycles "$W/xrt.log")" ] ||
    { echo "board: rtl takes $(cycles "$W/rtl.log") cycles, xrt $(cycles "$W/xrt.log")"; exit 1; }
echo "  ok    board: behind XRT's emulation the outputs of rtl, and its $(cycles "$W/xrt.log") cycles"
