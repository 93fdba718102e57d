/* Parts of the printer, for gen.c only. */
#ifndef HD_ISA_GEN_H
#define HD_ISA_GEN_H

#include "isa/isa.h"

/* kernel.xml and the register table of hw/xrt/package_kernel.tcl, on standard output. */
void gen_kernel_xml(const struct hd_machine *m);
void gen_kernel_tcl(const struct hd_machine *m);

#endif
