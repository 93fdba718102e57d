# Packages hw/xrt/hd_kernel.v and the RTL as an XRT kernel (.xo): Vivado 2022.1 or later, started by `make xclbin`.
#   vivado -mode batch -source package_kernel.tcl -tclargs OUT.xo WORK_FOLDER PART REGS.tcl KERNEL.xml SOURCE...
# REGS.tcl and KERNEL.xml are printed from isa/regs.def (isa/gen_xrt.c); nothing about registers is said here.

if {[llength $argv] < 6} {
    error "package_kernel.tcl: got [llength $argv] arguments, want OUT.xo WORK_FOLDER PART REGS.tcl KERNEL.xml SOURCE..."
}
lassign $argv xo work part regs xml
set sources [lrange $argv 5 end]
foreach f [concat [list $regs $xml] $sources] {
    if {![file isfile $f]} { error "package_kernel.tcl: $f is not there; run 'make kernel-files'" }
}
source $regs

# ---- project ----
file delete -force $work
file mkdir $work
create_project -force hd_kernel $work/project -part $part
add_files -norecurse $sources
foreach f $sources {
    switch [file extension $f] {
        .svh { set type "Verilog Header" }
        .v { set type Verilog }
        default { set type SystemVerilog }
    }
    set_property file_type $type [get_files [file normalize $f]]
}
set_property top $hd_kernel [current_fileset]
update_compile_order -fileset sources_1

# ---- core ----
ipx::package_project -root_dir $work/ip -vendor heddle -library kernel -taxonomy /KernelIP -import_files -set_current false
ipx::unload_core $work/ip/component.xml
ipx::edit_ip_in_project -upgrade true -name hd_edit -directory $work/ip $work/ip/component.xml
set core [ipx::current_core]
set_property core_revision 1 $core
set_property display_name "Heddle $hd_machine" $core
set_property description "machine $hd_machine_hash, instruction set $hd_isa_hash" $core
foreach p [ipx::get_user_parameters -of_objects $core] {
    ipx::remove_user_parameter [get_property NAME $p] $core
}

# ---- ports ----
ipx::associate_bus_interfaces -busif $hd_master -clock ap_clk $core
ipx::associate_bus_interfaces -busif $hd_slave -clock ap_clk $core
ipx::associate_bus_interfaces -clock ap_clk -reset ap_rst_n $core
ipx::infer_bus_interface interrupt xilinx.com:signal:interrupt_rtl:1.0 $core
set master [ipx::get_bus_interfaces $hd_master -of_objects $core]
# Whole beats, incrementing, never across 4 KiB (hw/rtl/hd_burst.sv); how many bursts are open at most.
foreach {name value} [list SUPPORTS_NARROW_BURST 0 HAS_BURST 1 MAX_BURST_LENGTH $hd_burst_beats \
                          NUM_READ_OUTSTANDING $hd_reads_open NUM_WRITE_OUTSTANDING $hd_writes_open] {
    set p [ipx::add_bus_parameter $name $master]
    set_property value $value $p
    set_property value_source constant $p
}

# ---- registers ----
set map [ipx::add_memory_map $hd_slave $core]
set_property slave_memory_map_ref $hd_slave [ipx::get_bus_interfaces $hd_slave -of_objects $core]
set block [ipx::add_address_block reg0 $map]
set_property range $hd_range $block
set buffers {}
foreach a $hd_args {
    lassign $a name offset bits
    if {$bits == 64} { lappend buffers $name }
}
foreach r $hd_registers {
    lassign $r name offset bits access doc
    # Vitis knows the control register by this name and these fields.
    set reg [ipx::add_register [expr {$name eq "ap_ctrl" ? "CTRL" : $name}] $block]
    set_property description $doc $reg
    set_property address_offset $offset $reg
    set_property size $bits $reg
    set_property access [expr {$access eq "RO" ? "read-only" : "read-write"}] $reg
    if {$name in $buffers} {
        set p [ipx::add_register_parameter ASSOCIATED_BUSIF $reg]
        set_property value $hd_master $p
    }
    if {$name ne "ap_ctrl"} continue
    foreach {field bit access} {AP_START 0 read-write AP_DONE 1 read-only AP_IDLE 2 read-only AP_READY 3 read-only AUTO_RESTART 7 read-write} {
        set f [ipx::add_field $field $reg]
        set_property bit_offset $bit $f
        set_property bit_width 1 $f
        set_property access $access $f
    }
}

# ---- kernel ----
set_property sdx_kernel true $core
set_property sdx_kernel_type rtl $core
set_property ipi_drc {ignore_freq_hz true} $core
set_property supported_families {} $core
set_property auto_family_support_level level_2 $core
ipx::create_xgui_files $core
ipx::update_checksums $core
ipx::check_integrity -kernel -xrt $core
ipx::save_core $core
close_project -delete
package_xo -force -xo_path $xo -kernel_name $hd_kernel -ip_directory $work/ip -ctrl_protocol ap_ctrl_hs -kernel_xml $xml
