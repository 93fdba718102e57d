# Stand-ins for the Vivado commands that hw/xrt/package_kernel.tcl uses, for tclsh: each checks its options, values and
# objects as Vivado 2022.1 documents them (UG835, UG1118), and records what it makes. A command that is not here ends
# the run. Usage: tclsh vivado.tcl SCRIPT RECORD ARGUMENT...
# RECORD: lines "register NAME OFFSET BITS ACCESS BUSIF", "bus NAME KEY VALUE", "property OBJECT NAME VALUE",
# "package KEY VALUE", "parameter NAME VALUE" of the master.

# command: options with a value, flags, number of other arguments (least, most)
set vs_commands {
    create_project         {-part} {-force} 1 2
    add_files              {-fileset} {-norecurse} 1 1
    get_files              {-of_objects} {-quiet} 1 1
    current_fileset        {} {} 0 0
    update_compile_order   {-fileset} {} 0 0
    close_project          {} {-delete} 0 0
    get_property           {} {-quiet} 2 2
    set_property           {} {-quiet} 3 3
    package_xo             {-xo_path -kernel_name -ip_directory -ctrl_protocol -kernel_xml} {-force} 0 0
    ipx::package_project   {-root_dir -vendor -library -taxonomy -set_current} {-import_files -force} 0 0
    ipx::unload_core       {} {} 1 1
    ipx::edit_ip_in_project {-upgrade -name -directory} {} 1 1
    ipx::current_core      {} {} 0 0
    ipx::get_user_parameters {-of_objects} {} 0 1
    ipx::remove_user_parameter {} {} 2 2
    ipx::associate_bus_interfaces {-busif -clock -reset} {} 1 1
    ipx::infer_bus_interface {} {} 3 3
    ipx::get_bus_interfaces {-of_objects} {} 0 1
    ipx::add_bus_parameter {} {-quiet} 2 2
    ipx::add_memory_map    {} {-quiet} 2 2
    ipx::add_address_block {} {-quiet} 2 2
    ipx::add_register      {} {-quiet} 2 2
    ipx::add_register_parameter {} {-quiet} 2 2
    ipx::add_field         {} {-quiet} 2 2
    ipx::create_xgui_files {} {} 1 1
    ipx::update_checksums  {} {} 1 1
    ipx::check_integrity   {} {-kernel -xrt -quiet} 1 1
    ipx::save_core         {} {} 1 1
}
# kind of object: the properties that are set on it
set vs_settable {
    file        {file_type}
    fileset     {top}
    core        {core_revision display_name description sdx_kernel sdx_kernel_type ipi_drc supported_families auto_family_support_level xpm_libraries}
    interface   {slave_memory_map_ref}
    parameter   {value value_source}
    block       {range}
    register    {description address_offset size access}
    field       {bit_offset bit_width access}
}
set vs_buses {m_axi_gmem s_axi_control ap_clk ap_rst_n}

namespace eval ipx {}
proc die {text} { error "vivado stand-in: $text" }
proc note {args} { puts $::vs_record $args }
proc unknown {args} { die "no such command: [lindex $args 0]" }

array set vs_made {}    ;# object -> kind
array set vs_value {}   ;# object,property -> value
proc object {kind name} {
    set id "$kind:$name"
    if {[info exists ::vs_made($id)] && $kind ni {core fileset file interface}} { die "$id is made twice" }
    set ::vs_made($id) $kind
    return $id
}
proc need {id kinds} {
    if {![info exists ::vs_made($id)] || $::vs_made($id) ni $kinds} { die "'$id' is no object of kind $kinds" }
}
proc leaf {id} { return [lindex [split $id /:] end] }

proc check {command arguments} {
    array set spec {}
    foreach {name with flags least most} $::vs_commands { set spec($name) [list $with $flags $least $most] }
    lassign $spec($command) with flags least most
    set opts {}
    set rest {}
    for {set i 0} {$i < [llength $arguments]} {incr i} {
        set a [lindex $arguments $i]
        if {$a in $with} {
            incr i
            if {$i >= [llength $arguments]} { die "$command: $a wants a value" }
            dict set opts $a [lindex $arguments $i]
        } elseif {$a in $flags} {
            dict set opts $a 1
        } elseif {[string match -* $a]} {
            die "$command: unknown option $a"
        } else {
            lappend rest $a
        }
    }
    if {[llength $rest] < $least || [llength $rest] > $most} { die "$command: [llength $rest] arguments, want $least to $most: $rest" }
    return [list $opts $rest]
}
foreach {name with flags least most} $vs_commands {
    proc $name {args} [format {
        lassign [check %1$s $args] opts rest
        return [do_%2$s $opts $rest]
    } $name [string map {:: _} $name]]
}

proc want {opts command args} {
    foreach o $args { if {![dict exists $opts $o]} { die "$command: $o is missing" } }
}
proc do_create_project {opts rest} {
    want $opts create_project -part
    if {![regexp {^xc[a-z0-9]+-[a-z0-9]+-} [dict get $opts -part]]} { die "no such part: [dict get $opts -part]" }
    note package part [dict get $opts -part]
}
proc do_add_files {opts rest} {
    foreach f [lindex $rest 0] {
        if {![file isfile $f]} { die "add_files: $f is not there" }
        object file [file normalize $f]
    }
}
proc do_get_files {opts rest} {
    need "file:[lindex $rest 0]" file
    return "file:[lindex $rest 0]"
}
proc do_current_fileset {opts rest} { return [object fileset sources_1] }
proc do_update_compile_order {opts rest} {}
proc do_close_project {opts rest} {}
proc do_get_property {opts rest} {
    lassign $rest name id
    if {$name eq "NAME"} { return [leaf $id] }
    if {![info exists ::vs_value($id,[string tolower $name])]} { die "$id has no property $name" }
    return $::vs_value($id,[string tolower $name])
}
proc do_set_property {opts rest} {
    lassign $rest name v id
    if {![info exists ::vs_made($id)]} { die "set_property $name: '$id' is no object" }
    set name [string tolower $name]
    if {$name ni [dict get $::vs_settable $::vs_made($id)]} { die "set_property: a $::vs_made($id) has no property $name" }
    if {$name eq "file_type" && $v ni {SystemVerilog Verilog {Verilog Header}}} { die "no such file type: $v" }
    if {$name eq "access" && $v ni {read-only read-write write-only}} { die "no such access: $v" }
    if {$name in {address_offset size bit_offset bit_width range} && ![string is integer -strict $v]} { die "$name: no number: $v" }
    set ::vs_value($id,$name) $v
    if {$::vs_made($id) eq "parameter" && $name eq "value" && [string match "parameter:m_axi_gmem/*" $id]} { note parameter [leaf $id] $v }
    if {$name eq "file_type" && ($v eq "Verilog") != [string match "*.v" $id]} { die "$id is no $v" }
    if {$::vs_made($id) in {core fileset}} { note property [leaf $id] $name $v }
}
proc do_ipx_package_project {opts rest} {
    want $opts ipx::package_project -root_dir -vendor -library -taxonomy
    file mkdir [dict get $opts -root_dir]
    close [open [dict get $opts -root_dir]/component.xml w]
}
proc xml_there {f} { if {![file isfile $f]} { die "$f is not there" } }
proc do_ipx_unload_core {opts rest} { xml_there [lindex $rest 0] }
proc do_ipx_edit_ip_in_project {opts rest} { xml_there [lindex $rest 0] }
proc do_ipx_current_core {opts rest} { return [object core core] }
proc do_ipx_get_user_parameters {opts rest} { return [list [object parameter user/AxiBits]] }
proc do_ipx_remove_user_parameter {opts rest} { need [lindex $rest 1] core }
proc do_ipx_associate_bus_interfaces {opts rest} {
    need [lindex $rest 0] core
    want $opts ipx::associate_bus_interfaces -clock
    foreach {o name} $opts { if {$name ni $::vs_buses} { die "no interface $name in the RTL" } }
    if {[dict exists $opts -busif]} { note bus [dict get $opts -busif] clock [dict get $opts -clock] }
    if {[dict exists $opts -reset]} { note bus [dict get $opts -clock] reset [dict get $opts -reset] }
}
proc do_ipx_infer_bus_interface {opts rest} { note bus [lindex $rest 0] type [lindex $rest 1] }
proc do_ipx_get_bus_interfaces {opts rest} {
    if {[lindex $rest 0] ni $::vs_buses} { die "no interface [lindex $rest 0]" }
    return [object interface [lindex $rest 0]]
}
proc do_ipx_add_bus_parameter {opts rest} { need [lindex $rest 1] interface; return [object parameter "[leaf [lindex $rest 1]]/[lindex $rest 0]"] }
proc do_ipx_add_memory_map {opts rest} { need [lindex $rest 1] core; return [object map [lindex $rest 0]] }
proc do_ipx_add_address_block {opts rest} { need [lindex $rest 1] map; return [object block [lindex $rest 0]] }
proc do_ipx_add_register {opts rest} { need [lindex $rest 1] block; lappend ::vs_registers [lindex $rest 0]; return [object register [lindex $rest 0]] }
proc do_ipx_add_register_parameter {opts rest} {
    need [lindex $rest 1] register
    if {[lindex $rest 0] ne "ASSOCIATED_BUSIF"} { die "register parameter [lindex $rest 0]" }
    return [object parameter "[leaf [lindex $rest 1]]/busif"]
}
proc do_ipx_add_field {opts rest} { need [lindex $rest 1] register; return [object field [lindex $rest 0]] }
foreach c {create_xgui_files update_checksums check_integrity save_core} { proc do_ipx_$c {opts rest} { need [lindex $rest 0] core } }
proc do_package_xo {opts rest} {
    want $opts package_xo -xo_path -kernel_name -ip_directory -ctrl_protocol -kernel_xml
    if {[dict get $opts -ctrl_protocol] ni {ap_ctrl_hs ap_ctrl_chain user_managed}} { die "package_xo: protocol [dict get $opts -ctrl_protocol]" }
    xml_there [dict get $opts -kernel_xml]
    xml_there [dict get $opts -ip_directory]/component.xml
    foreach k {-kernel_name -ctrl_protocol} { note package [string range $k 1 end] [dict get $opts $k] }
    close [open [dict get $opts -xo_path] w]
    set ::vs_packaged 1
}

set argv0 [lindex $argv 0]
set vs_record [open [lindex $argv 1] w]
set argv [lrange $argv 2 end]
set vs_registers {}
set vs_packaged 0
source $argv0
if {!$vs_packaged} { die "the script made no .xo" }
foreach r $vs_registers {
    set busif [expr {[info exists vs_value(parameter:$r/busif,value)] ? $vs_value(parameter:$r/busif,value) : "-"}]
    note register $r $vs_value(register:$r,address_offset) $vs_value(register:$r,size) $vs_value(register:$r,access) $busif
}
close $vs_record
