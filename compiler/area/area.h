/* Area of a machine in an instant: what yosys would count, by a table that was fitted to its
 * syntheses (make area-model). docs/explore.md says how close it is. */
#ifndef HD_AREA_AREA_H
#define HD_AREA_AREA_H

#include "isa/isa.h"

enum { HD_AREA_MODULES = 80 };

struct hd_area {
    double lut, ff, dsp, bram, uram; /* bram: of 36 Kbit, in halves */
};
struct hd_area_module {
    const char *name;
    struct hd_area of; /* all its copies together */
};

/* Of the whole machine, all its cores. parts: room for HD_AREA_MODULES, or NULL; *out_n of them,
 * with what is in each module but not in modules inside it. */
struct hd_area hd_area_of(const struct hd_machine *m, struct hd_area_module *parts, int *out_n);

#endif
