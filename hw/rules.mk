# RTL in dependency order; Verilator and yosys read this list after the generated packages.
RTL_SRCS := $(addprefix hw/rtl/,$(addsuffix .sv, \
    hd_bus_pkg hd_f32_pkg hd_time_check hd_gate hd_skid hd_fifo hd_ram hd_nest \
    hd_xm hd_am_write hd_am hd_pm hd_mac2 hd_mac_array hd_mx \
    hd_f32_from_int hd_f32_mul hd_f32_add hd_f32_to_int hd_vx_window \
    hd_vx_fn hd_vx_transpose hd_vx_result hd_vx_lanes hd_vx_commit hd_vx hd_compute \
    hd_sem hd_front hd_fetch hd_issue \
    hd_rd_arb hd_burst hd_run_join hd_run_nest hd_runs hd_read_bursts hd_lx_gen hd_lx_data hd_lx hd_lw hd_st_gen hd_st_data hd_st \
    hd_csr hd_core hd_top))
