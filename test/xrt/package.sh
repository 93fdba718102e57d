#!/bin/sh
# The kernel's packaging without Vitis: make xclbin runs with stand-ins (test/xrt/vitis) that know the commands, and what
# they record is held against the RTL. From the top of the repository; seconds.
set -u
W=$(mktemp -d /tmp/heddle-test-kernel-XXXXXX)
trap 'rm -rf "$W"' EXIT
trap 'exit 1' INT TERM
failed=0
bad() { echo "  FAIL  kernel: $1"; [ ! -s "$W/log" ] || tail -5 "$W/log"; failed=1; }
with() { PATH="$PWD/test/xrt/vitis:$PATH" HD_RECORD="$W/record" make --no-print-directory "$@" > "$W/log" 2>&1; }

for b in u250:tiny u280:base u55c:big u250:base; do
    board=${b%%:*} machine=${b#*:}
    rm -f "$W/record"
    if with xclbin PLATFORM="$board" MACHINE="$machine" && python3 scripts/check_kernel.py "$W/record" "build/xrt/$machine" build/gen hw/rtl > "$W/log" 2>&1
    then echo "  ok    kernel: $machine for $board: $(cat "$W/log")"
    else bad "$machine for $board"; fi
done
make --no-print-directory -s kernel-files PLATFORM=u250 MACHINE_ARGS="base clock_mhz=123" > "$W/log" 2>&1
if ! with xclbin PLATFORM=u250 MACHINE_ARGS="tiny cores=3" ||
    [ "$(sed -n 's/^sp=.*://p' build/xrt/tiny+cores=3/link_u250.cfg | sort -u | wc -l)" != 3 ]
then bad "three cores are not linked, each to a bank of its own"; fi
grep -qx kernel_frequency=123 "build/xrt/base+clock_mhz=123/link_u250.cfg" || bad "the link does not ask for the machine's clock"

# The top is Verilog 2005, has every port of hd_top, and fits each machine; with and without marks for an ILA.
lint() { # folder, top
    verilator --lint-only -Wall -Wno-UNUSEDSIGNAL +1364-2005ext+v hw/lint/heddle.vlt -Ihw/rtl --top-module hd_kernel \
        $(grep -v '\.svh$\|hd_kernel\.v$' "$1/sources.txt") "$2" > "$W/log" 2>&1
}
for m in tiny base big; do lint build/xrt/$m build/xrt/$m/hd_kernel.v || bad "lint of hd_kernel.v, $m"; done
changed() { sed "$1" build/xrt/tiny/hd_kernel.v > "$W/hd_kernel.v"; ! cmp -s "$W/hd_kernel.v" build/xrt/tiny/hd_kernel.v; }
changed 's/C_DEBUG = 0/C_DEBUG = 1/' && lint build/xrt/tiny "$W/hd_kernel.v" || bad "lint of hd_kernel.v with C_DEBUG=1"
changed 's/, .m_axi_gmem_bid(m_axi_gmem_bid)//' && ! lint build/xrt/tiny "$W/hd_kernel.v" || bad "a port that is not connected is not noticed"
changed 's/DATA_WIDTH = 64/DATA_WIDTH = 128/' && ! lint build/xrt/tiny "$W/hd_kernel.v" || bad "another width is not noticed"
changed 's/reg \[4:0\]/logic [4:0]/; s/C_DEBUG = 0/C_DEBUG = 1/' && ! lint build/xrt/tiny "$W/hd_kernel.v" || bad "SystemVerilog in the top is not noticed"

# The checks can fail: a command or a property that Vivado does not have, a file that is gone, another offset.
refused() { # what, sed program on the script
    sed "$2" hw/xrt/package_kernel.tcl > "$W/script.tcl"
    cmp -s "$W/script.tcl" hw/xrt/package_kernel.tcl && bad "$1: the edit changes nothing"
    if tclsh test/xrt/vitis/vivado.tcl "$W/script.tcl" "$W/record" "$W/a.xo" "$W/work" xcu250-figd2104-2L-e build/xrt/base/regs.tcl \
        build/xrt/base/kernel.xml $(cat build/xrt/base/sources.txt) > "$W/log" 2>&1 &&
        python3 scripts/check_kernel.py "$W/record" build/xrt/base build/gen hw/rtl > "$W/log" 2>&1
    then bad "$1 is not noticed"; fi
}
refused "an unknown command" 's/ipx::save_core/ipx::store_core/'
refused "an unknown option" 's/-import_files/-import_all/'
refused "an unknown property" 's/sdx_kernel_type/sdx_kind/'
refused "another offset" 's/address_offset $offset/address_offset [expr {$offset + 4}]/'
refused "fewer open reads" 's/NUM_READ_OUTSTANDING \$hd_reads_open/NUM_READ_OUTSTANDING 2/'
refused "a top that is taken for SystemVerilog" 's/set type Verilog }/set type SystemVerilog }/'
refused "no bus for a pointer" 's/ASSOCIATED_BUSIF \$reg\]/ASSOCIATED_BUSIF $block]/'
if tclsh test/xrt/vitis/vivado.tcl hw/xrt/package_kernel.tcl "$W/record" "$W/a.xo" "$W/work" xcu250-figd2104-2L-e build/xrt/base/regs.tcl \
    build/xrt/base/kernel.xml hw/rtl/gone.sv > "$W/log" 2>&1 || ! grep -q "gone.sv is not there" "$W/log"
then bad "a missing source"; fi

# What users see without Vitis, or with a wrong name.
says() { # text, arguments of make
    text=$1
    shift
    if PATH=/usr/bin:/bin make --no-print-directory xclbin "$@" > "$W/log" 2>&1 || ! grep -q -- "$text" "$W/log"
    then bad "make xclbin $*: want '$text'"; fi
}
command -v v++ > /dev/null || says "settings64.sh" PLATFORM=u250
says "PLATFORM is not set"
says "u250, u280, u55c" PLATFORM=zcu104
says "AWS F1 is retired" PLATFORM=f1
says "want hw or hw_emu" PLATFORM=u250 TARGET=sw_emu
exit "$failed"
