// The Verilated hd_sim and the names of signals inside, as Verilator 5.006 makes them.
#ifndef HD_SIM_RTL_TOP_H
#define HD_SIM_RTL_TOP_H

#include "Vhd_sim.h"
#include "Vhd_sim___024root.h"

#define HD_TOP(signal)  hd_sim__DOT__hd_top__DOT__##signal
#define HD_CORE(signal) hd_sim__DOT__hd_top__DOT__u_core__DOT__##signal

#endif
